// Services with one fault in tokens, the separation of users, or CORS.

import {
  anyToken,
  CANCEL,
  CHUNKS,
  COMMIT,
  changed,
  headers,
  isOk,
  type Json,
  type Mutant,
  onlyFor,
  respond,
  SESSION,
  statuses,
  without,
} from '../support/mutations.ts';
import { page } from './support.ts';

export const ACCESS_MUTANTS: readonly Mutant[] = [
  { fault: 'opens sessions for any token', check: 'auth-wrong-open', service: anyToken(SESSION) },
  { fault: 'presigns for any token', check: 'auth-wrong-presign', service: anyToken(CHUNKS) },
  { fault: 'commits without a token', check: 'auth-missing-commit', service: anyToken(COMMIT) },
  { fault: 'cancels for any token', check: 'auth-wrong-cancel', service: anyToken(CANCEL) },
  {
    fault: 'responds with 403 to a missing token',
    check: 'auth-missing-open',
    service: statuses(SESSION, 401, 403),
  },
  {
    fault: 'calls a wrong token a lack of rights',
    check: 'auth-scope',
    service: headers((all) => {
      if (all['www-authenticate']) all['www-authenticate'] = 'Bearer error="insufficient_scope"';
    }),
  },
  {
    fault: 'redirects to a sign-in page',
    check: 'auth-redirect',
    service: onlyFor(SESSION, (passing) => {
      if (passing.response.status !== 401) return;
      respond(passing, 302);
      passing.response.headers.location = '/sign-in';
    }),
  },
  {
    fault: 'presigns in the session of another user',
    check: 'auth-other-user-presign',
    service: anyToken(CHUNKS),
  },
  {
    fault: 'commits the session of another user',
    check: 'auth-other-user-commit',
    service: anyToken(COMMIT),
  },
  {
    fault: 'reports chunks of another user as stored',
    check: 'auth-other-user-chunk',
    service: (() => {
      const seen = new Set<string>();
      return changed(CHUNKS, ({ chunks }) => {
        for (const [hash, entry] of Object.entries<Json>(chunks)) {
          if (seen.has(hash)) entry.upload_url = null;
          seen.add(hash);
        }
      });
    })(),
  },
  {
    fault: 'has no CORS headers',
    check: 'cors-response-open',
    service: headers((all) => delete all['access-control-allow-origin']),
  },
  {
    fault: 'has no CORS headers on errors',
    check: 'cors-error-401',
    service: headers((all, passing) => {
      if (!isOk(passing)) delete all['access-control-allow-origin'];
    }),
  },
  {
    fault: 'allows a list of origins',
    check: 'cors-one-origin',
    service: headers((all) =>
      Object.assign(all, { 'access-control-allow-origin': `${page}, https://b.example` }),
    ),
  },
  {
    fault: 'needs a token for preflights',
    check: 'cors-preflight-commit',
    service: {
      after: (passing) => void (passing.method === 'OPTIONS' && respond(passing, 401)),
    },
  },
  {
    fault: 'does not allow the session header',
    check: 'cors-headers-presign',
    service: headers((all) => {
      all['access-control-allow-headers'] = without(
        all['access-control-allow-headers'],
        'x-service-uploadsession',
      );
    }),
  },
  {
    fault: 'allows Authorization with * only',
    check: 'cors-headers-open',
    service: headers((all) => Object.assign(all, { 'access-control-allow-headers': '*' })),
  },
  {
    fault: 'does not allow DELETE',
    check: 'cors-headers-cancel',
    service: headers((all) => Object.assign(all, { 'access-control-allow-methods': 'GET, POST' })),
  },
  {
    fault: 'lets every origin use cookies',
    check: 'cors-foreign-origin',
    service: headers((all, { headers: { origin } }) =>
      Object.assign(all, {
        'access-control-allow-origin': origin ?? page,
        'access-control-allow-credentials': 'true',
      }),
    ),
  },
  {
    fault: 'allows the origin null',
    check: 'cors-null-origin',
    service: headers((all, { headers: { origin } }) => {
      if (origin === 'null') all['access-control-allow-origin'] = 'null';
    }),
  },
  {
    fault: 'does not expose Retry-After',
    check: 'cors-expose-retry-after',
    service: headers((all) => {
      all['access-control-expose-headers'] = without(all['access-control-expose-headers'], 'retry-after');
    }),
  },
  {
    fault: 'does not expose the session header',
    check: 'cors-expose-session',
    service: headers((all) => {
      all['access-control-expose-headers'] = without(
        all['access-control-expose-headers'],
        'x-service-uploadsession',
      );
    }),
  },
  {
    fault: 'has a clock that is a day ahead',
    check: 'cors-date',
    service: headers((all) => Object.assign(all, { date: new Date(Date.now() + 86_400_000).toUTCString() })),
  },
  {
    fault: 'sends 429 without Retry-After',
    check: 'cors-slow-down',
    needsAll: true,
    service: (() => {
      let openCount = 0;
      return onlyFor(SESSION, (passing) => {
        openCount += 1;
        if (openCount === 3) respond(passing, 429);
      });
    })(),
  },
];

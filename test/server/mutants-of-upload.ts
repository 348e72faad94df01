// Services with one fault in opening a session, presigning, storing chunks, committing or canceling.

import type { Passing } from '../support/mutant-proxy.ts';
import {
  CANCEL,
  CHUNKS,
  COMMIT,
  changed,
  commitsAnyway,
  entries,
  headers,
  is,
  isOk,
  jsonOf,
  type Mutant,
  onlyFor,
  respond,
  SESSION,
  statuses,
  tokenOf,
} from '../support/mutations.ts';

export const UPLOAD_MUTANTS: readonly Mutant[] = [
  {
    fault: 'redirects the request that opens a session',
    check: 'session-redirect',
    service: onlyFor(SESSION, (passing) => {
      respond(passing, 307);
      passing.response.headers.location = 'https://other.example/';
    }),
  },
  {
    fault: 'responds with HTML',
    check: 'session-json',
    service: onlyFor(SESSION, (passing) => respond(passing, 200, '<html>')),
  },
  {
    fault: 'returns no session_id',
    check: 'session-id',
    service: changed(SESSION, (json) => delete json.session_id),
  },
  {
    fault: 'returns the same session_id twice',
    check: 'session-unique',
    service: changed(SESSION, (json) => Object.assign(json, { session_id: 'session_1' })),
  },
  {
    fault: 'returns a passport that it does not accept',
    check: 'presign-status',
    service: {
      after: (passing) => {
        if (is(passing, CHUNKS) && isOk(passing)) respond(passing, 404);
      },
    },
  },
  {
    fault: 'returns a passport that is too long for a header',
    check: 'session-header-characters',
    service: {
      before: (passing) => {
        const name = 'x-service-uploadsession';
        if (passing.headers[name]) passing.headers[name] = String(passing.headers[name]).replace(/=+$/, '');
        return true;
      },
      after: (passing) => {
        const { headers } = passing.response;
        const passport = headers['x-service-uploadsession'];
        if (passport) headers['x-service-uploadsession'] = `${passport}${'='.repeat(9000)}`;
      },
    },
  },
  {
    fault: 'fails for a body that is not JSON',
    check: 'session-bad-json',
    service: statuses(SESSION, 400, 500),
  },
  {
    fault: 'fails for a negative size',
    check: 'session-negative-size',
    service: statuses(SESSION, 400, 502),
  },
  {
    fault: 'asks to retry a request without a name',
    check: 'session-no-name',
    service: statuses(SESSION, 400, 408),
  },
  {
    fault: 'fails for an empty file',
    check: 'session-empty-file',
    service: onlyFor(SESSION, (passing) => jsonOf(passing.body).file_size === 0 && respond(passing, 500)),
  },
  {
    fault: 'fails for a field that it does not use',
    check: 'session-more-fields',
    service: onlyFor(SESSION, (passing) => {
      if (jsonOf(passing.body).x_unused) respond(passing, 500);
    }),
  },
  {
    fault: 'fails for a large file',
    check: 'session-large-file',
    service: onlyFor(SESSION, (passing) => jsonOf(passing.body).file_size > 2 ** 32 && respond(passing, 500)),
  },
  {
    fault: 'refuses names with umlauts',
    check: 'session-unicode-name',
    service: onlyFor(SESSION, (passing) => {
      if (/[^ -~]/.test(jsonOf(passing.body).file_name)) respond(passing, 400);
    }),
  },
  {
    fault: 'repeats the token in an error',
    check: 'session-debuginfo',
    service: onlyFor(SESSION, (passing) => {
      if (passing.response.status === 400) respond(passing, 400, { debuginfo: tokenOf(passing) });
    }),
  },
  {
    fault: 'leaves out an entry',
    check: 'presign-keys',
    service: changed(CHUNKS, ({ chunks }) => delete chunks[Object.keys(chunks)[0] ?? '']),
  },
  {
    fault: 'leaves out entries of large batches',
    check: 'presign-every-entry',
    service: changed(CHUNKS, (json) => {
      json.chunks = Object.fromEntries(Object.entries(json.chunks).slice(0, 50));
    }),
  },
  {
    fault: 'returns no receipts',
    check: 'presign-receipt',
    service: entries((entry) => delete entry.receipt),
  },
  {
    fault: 'returns the same receipt for all chunks',
    check: 'presign-receipts-differ',
    service: entries((entry) => Object.assign(entry, { receipt: 'receipt' })),
  },
  {
    fault: 'reports chunks as stored that were never sent',
    check: 'presign-url',
    service: entries((entry) => Object.assign(entry, { upload_url: null })),
  },
  {
    fault: 'returns relative URLs',
    check: 'presign-url-absolute',
    service: entries((entry) => Object.assign(entry, { upload_url: '/chunks/1' })),
  },
  {
    fault: 'returns URLs without encryption',
    check: 'presign-url-origin',
    service: entries((entry, index) =>
      Object.assign(entry, { upload_url: `http://storage.example/${index}` }),
    ),
  },
  {
    fault: 'returns URLs with a password',
    check: 'presign-url-origin',
    service: entries((entry) =>
      Object.assign(entry, { upload_url: entry.upload_url?.replace('://', '://user:secret@') }),
    ),
  },
  {
    fault: 'returns one URL for all chunks',
    check: 'presign-urls-differ',
    service: entries((entry) => Object.assign(entry, { upload_url: 'https://storage.example/upload' })),
  },
  {
    fault: 'puts the token into URLs',
    check: 'presign-url-secrets',
    service: entries((entry, _index, passing) =>
      Object.assign(entry, { upload_url: `${entry.upload_url}&access_token=${tokenOf(passing)}` }),
    ),
  },
  {
    fault: 'asks for another method',
    check: 'presign-method',
    service: entries((entry) => Object.assign(entry, { method: 'PATCH' })),
  },
  {
    fault: 'asks for a header that pages may not send',
    check: 'presign-headers',
    service: entries((entry) => Object.assign(entry, { headers: { cookie: 'a=b' } })),
  },
  {
    fault: 'returns URLs that have expired',
    check: 'presign-expires-at',
    service: entries((entry) => Object.assign(entry, { expires_at: '2001-01-01T00:00:00Z' })),
  },
  {
    fault: 'returns URLs that live for a month',
    check: 'presign-lifetime',
    service: entries((entry) =>
      Object.assign(entry, { expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() }),
    ),
  },
  {
    fault: 'presigns a chunk only once',
    check: 'presign-again',
    service: (() => {
      const seen = new Set<string>();
      return onlyFor(CHUNKS, (passing) => {
        const key = passing.body.toString();
        if (seen.has(key)) respond(passing, 409);
        seen.add(key);
      });
    })(),
  },
  {
    fault: 'fails for an unknown session',
    check: 'presign-unknown-session',
    service: statuses(CHUNKS, 404, 500),
  },
  { fault: 'fails for 1,000 hashes', check: 'presign-many', service: statuses(CHUNKS, 413, 500) },
  { fault: 'fails for what is not a hash', check: 'presign-wrong-hash', service: statuses(CHUNKS, 400, 500) },
  {
    fault: 'redirects chunks',
    check: 'put-redirect',
    storage: {
      after: (passing) => {
        if (passing.method !== 'PUT') return;
        respond(passing, 307);
        passing.response.headers.location = 'https://other.example/';
      },
    },
  },
  {
    fault: 'has storage without CORS headers',
    check: 'put-readable',
    storage: headers((all) => delete all['access-control-allow-origin']),
  },
  {
    fault: 'has storage that does not allow PUT',
    check: 'put-preflight-method',
    storage: headers((all) => Object.assign(all, { 'access-control-allow-methods': 'GET' })),
  },
  {
    fault: 'asks for a header that the storage does not allow',
    check: 'put-preflight-headers',
    service: entries((entry) => Object.assign(entry, { headers: { 'x-amz-acl': 'private' } })),
  },
  {
    fault: 'stores and commits any bytes',
    check: 'put-other-bytes',
    service: commitsAnyway(409),
    storage: { after: (passing) => void (passing.response.status === 400 && respond(passing, 200, '')) },
  },
  {
    fault: 'stores and commits a part of a chunk',
    check: 'put-fewer-bytes',
    service: commitsAnyway(409),
    storage: { after: (passing) => void (passing.response.status === 400 && respond(passing, 200, '')) },
  },
  {
    fault: 'has storage that checks no signature',
    check: 'put-signature',
    storage: { after: (passing) => void (passing.response.status === 403 && respond(passing, 200, '')) },
  },
  {
    fault: 'has storage that needs no signature',
    check: 'put-no-signature',
    storage: { after: (passing) => void (passing.response.status === 403 && respond(passing, 200, '')) },
  },
  {
    fault: 'has storage whose upload URLs return the bytes',
    check: 'put-read',
    storage: { after: (passing) => void (passing.method === 'GET' && respond(passing, 200, 'bytes')) },
  },
  {
    fault: 'has storage that fails if a chunk is sent twice',
    check: 'put-again',
    storage: (() => {
      const seen = new Set<string>();
      return {
        after: (passing: Passing) => {
          if (passing.method === 'PUT' && seen.has(passing.path)) respond(passing, 500);
          seen.add(passing.path);
        },
      };
    })(),
  },
  {
    fault: 'has no commit',
    check: 'commit-status',
    service: onlyFor(COMMIT, (passing) => respond(passing, 404, 'not found')),
  },
  {
    fault: 'responds to the commit with HTML',
    check: 'commit-json',
    service: onlyFor(COMMIT, (passing) => void (isOk(passing) && respond(passing, 200, '<html>'))),
  },
  {
    fault: 'never completes a file',
    check: 'commit-pending',
    service: onlyFor(
      COMMIT,
      (passing) => void (isOk(passing) && respond(passing, 202, { state: 'processing' })),
    ),
  },
  {
    fault: 'returns a wrong size',
    check: 'commit-size',
    service: changed(COMMIT, (json) => Object.assign(json, { file_size: 1 })),
  },
  {
    fault: 'refuses a repeated commit',
    check: 'commit-again',
    service: (() => {
      const seen = new Set<string>();
      return onlyFor(COMMIT, (passing) => {
        const key = passing.body.toString();
        if (seen.has(key)) respond(passing, 410);
        seen.add(key);
      });
    })(),
  },
  {
    fault: 'creates another file for a repeated commit',
    check: 'commit-again-same',
    service: changed(COMMIT, (json) => Object.assign(json, { file_id: `file_${Math.random()}` })),
  },
  {
    fault: 'gives another answer to a repeated commit',
    check: 'commit-again-answer',
    service: (() => {
      const seen = new Set<string>();
      return onlyFor(COMMIT, (passing) => {
        const key = passing.body.toString();
        if (seen.has(key) && isOk(passing)) respond(passing, 200, { state: 'known' });
        seen.add(key);
      });
    })(),
  },
  {
    fault: 'creates another file, whose id has another name, for a repeated commit',
    check: 'commit-again-answer',
    service: changed(COMMIT, (json) => {
      json.id = `file_${Math.random()}`;
      delete json.file_id;
    }),
  },
  { fault: 'commits chunks that were never sent', check: 'commit-missing', service: commitsAnyway(409) },
  {
    fault: 'lists the wrong chunks as missing',
    check: 'commit-missing-list',
    service: statuses(COMMIT, 409, 409, { debuginfo: 'missing', missing: ['0'.repeat(64)] }),
  },
  { fault: 'commits with a wrong receipt', check: 'commit-wrong-receipt', service: commitsAnyway(400) },
  {
    fault: 'commits with the receipt of another chunk',
    check: 'commit-foreign-receipt',
    service: commitsAnyway(400),
  },
  { fault: 'commits without chunks', check: 'commit-no-chunks', service: commitsAnyway(422) },
  {
    fault: 'commits more bytes than the file has',
    check: 'commit-too-many-chunks',
    service: commitsAnyway(422),
  },
  { fault: 'replaces a committed file', check: 'commit-after', service: commitsAnyway(422) },
  {
    fault: 'fails for an empty commit',
    check: 'commit-empty-file',
    service: {
      after: (passing) => {
        if (is(passing, COMMIT) && jsonOf(passing.body).hashes?.length === 0) respond(passing, 500);
      },
    },
  },
  {
    fault: 'refuses a file with two equal chunks',
    check: 'commit-same-chunk-twice',
    service: onlyFor(COMMIT, (passing) => {
      const { hashes = [] } = jsonOf(passing.body);
      if (new Set(hashes).size < hashes.length) respond(passing, 422);
    }),
  },
  {
    fault: 'continues a canceled session',
    check: 'cancel-presign',
    service: { before: (passing) => !is(passing, CANCEL) },
  },
  {
    fault: 'fails for a second cancellation',
    check: 'cancel-again',
    service: (() => {
      const seen = new Set<string>();
      return onlyFor(CANCEL, (passing) => {
        const key = String(passing.headers['x-service-uploadsession']);
        if (seen.has(key)) respond(passing, 500);
        seen.add(key);
      });
    })(),
  },
];

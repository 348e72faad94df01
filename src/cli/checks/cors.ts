// What a page of another origin may send and read.

import { isLoopback } from '../../core/loopback.ts';
import { SESSION_HEADER } from '../../service/wire.ts';
import { type Check, row, table } from '../check.ts';
import { type Context, OPERATIONS, type Operation } from '../context.ts';
import { allowsMethod, deniedHeaders, type Exchange, isExposed } from '../exchange.ts';
import {
  describe,
  expectNoneDenied,
  expectPreflight,
  expectReadable,
  type Finding,
  fail,
  judge,
  pass,
  Skip,
} from '../finding.ts';

const SECTION = 'what-the-service-must-do-for-a-page';
const FOREIGN = 'https://conform.invalid';

/** Returns the origin of the page. Throws `Skip` without `--origin`, or if the page has the origin of the service. */
function originOf({ options: { origin, baseUrl } }: Context): string {
  if (origin === undefined) throw new Skip('pass --origin to check CORS');
  if (origin === new URL(baseUrl).origin) throw new Skip('the page has the origin of the service');
  return origin;
}

async function preflightOf(c: Context, operation: Operation): Promise<Exchange> {
  originOf(c);
  await c.require(operation);
  return c.preflight(c.urlOf(operation), c.methodOf(operation), c.headerNames(operation));
}

const expectReadableByPage = (c: Context, response: Exchange): Finding =>
  expectReadable(response, originOf(c));

/** Resolves with a successful response to the operation. */
async function successOf(c: Context, operation: Operation): Promise<Exchange> {
  if (operation === 'open') return c.openOnce();
  if (operation === 'presign') return (await c.upload(500)).presignResponse;
  if (operation === 'commit') return (await c.committedRound()).commit;
  await c.require(operation);
  return operation === 'batch' ? c.batch() : c.cancelOnce();
}

function expectExposed(c: Context, response: Exchange, name: string): Finding {
  originOf(c);
  const list = String(response.headers['access-control-expose-headers'] ?? 'nothing');
  return judge(isExposed(response, name), `exposes ${list}`);
}

export const CORS_CHECKS: readonly Check[] = table('cors', [
  ...OPERATIONS.flatMap((operation) => [
    row(
      `preflight-${operation}`,
      `${operation}: responds to the preflight`,
      SECTION,
      'a 2xx that allows the origin of the page',
      async (c: Context) => {
        return expectPreflight(await preflightOf(c, operation), originOf(c));
      },
    ),
    row(
      `headers-${operation}`,
      `${operation}: allows the method and the headers`,
      SECTION,
      'the method, and each header by name or by * (Authorization only by name)',
      async (c: Context) => {
        const response = await preflightOf(c, operation);
        const method = c.methodOf(operation);
        const deniedNames = deniedHeaders(response, c.headerNames(operation));
        if (!allowsMethod(response, method)) deniedNames.unshift(method);
        return expectNoneDenied(deniedNames);
      },
    ),
    row(
      `response-${operation}`,
      `${operation}: lets the page read the response`,
      SECTION,
      'Access-Control-Allow-Origin with the origin of the page, or *',
      async (c: Context) => expectReadableByPage(c, await successOf(c, operation)),
    ),
  ]),
  row(
    'error-400',
    'lets the page read a 400',
    SECTION,
    'Access-Control-Allow-Origin on errors too',
    async (c) => expectReadableByPage(c, await c.call('open', { body: '{' })),
  ),
  row(
    'error-401',
    'lets the page read a 401',
    SECTION,
    'Access-Control-Allow-Origin on errors too',
    async (c) => {
      if (c.options.token === undefined) throw new Skip('the service needs no token');
      return expectReadableByPage(
        c,
        await c.call('open', { body: c.sessionBody(), token: 'conform-wrong-token' }),
      );
    },
  ),
  row(
    'error-404',
    'lets the page read the error of an unknown session',
    SECTION,
    'Access-Control-Allow-Origin on errors too',
    async (c) => expectReadableByPage(c, await c.presign('conform-unknown-session', [c.piece(100)])),
  ),
  row(
    'error-commit',
    'lets the page read the error of a wrong commit',
    SECTION,
    'Access-Control-Allow-Origin on errors too',
    async (c) => {
      await c.committedRound();
      return expectReadableByPage(
        c,
        await c.call('commit', { session: 'conform-unknown-session', body: {} }),
      );
    },
  ),
  row('one-origin', 'allows one origin', SECTION, 'one origin, not a list', async (c) => {
    originOf(c);
    const { headers } = await c.openOnce();
    const value = String(headers['access-control-allow-origin'] ?? '');
    return judge(!/[,\s]/.test(value), value);
  }),
  row(
    'foreign-origin',
    'does not let every page use cookies',
    SECTION,
    'Access-Control-Allow-Credentials only for known origins',
    async (c) => {
      originOf(c);
      const { headers } = await c.call('open', { body: c.sessionBody(), origin: FOREIGN });
      const isAllowed = headers['access-control-allow-origin'] === FOREIGN;
      const hasCookies = headers['access-control-allow-credentials'] === 'true';
      return judge(!(isAllowed && hasCookies), isAllowed ? `allows ${FOREIGN}` : `does not allow ${FOREIGN}`);
    },
  ),
  row(
    'null-origin',
    'does not allow the origin null',
    SECTION,
    'not Access-Control-Allow-Origin: null',
    async (c) => {
      originOf(c);
      const { headers } = await c.call('open', { body: c.sessionBody(), origin: 'null' });
      const value = String(headers['access-control-allow-origin'] ?? 'missing');
      return judge(value !== 'null', value);
    },
  ),
  row(
    'expose-retry-after',
    'exposes Retry-After',
    SECTION,
    'Retry-After in Access-Control-Expose-Headers',
    async (c) => expectExposed(c, await c.openOnce(), 'retry-after'),
  ),
  row('expose-date', 'exposes Date', SECTION, 'Date in Access-Control-Expose-Headers', async (c) =>
    expectExposed(c, await c.openOnce(), 'date'),
  ),
  row(
    'expose-www-authenticate',
    'exposes WWW-Authenticate on a 401',
    SECTION,
    'WWW-Authenticate in Access-Control-Expose-Headers, if the response has it',
    async (c) => {
      if (c.options.token === undefined) throw new Skip('the service needs no token');
      const response = await c.call('open', { body: c.sessionBody(), token: 'conform-wrong-token' });
      if (response.headers['www-authenticate'] === undefined) return pass('no WWW-Authenticate');
      return expectExposed(c, response, 'www-authenticate');
    },
  ),
  row(
    'expose-session',
    'exposes the session header',
    SECTION,
    `${SESSION_HEADER} in Access-Control-Expose-Headers, if the response has it`,
    async (c) => {
      const response = await c.openOnce();
      if (response.headers[SESSION_HEADER] === undefined) return pass('no such header');
      return expectExposed(c, response, SESSION_HEADER);
    },
  ),
  row(
    'date',
    'sends a Date close to the time of this machine',
    'your-service-differs-set-this',
    'Date, at most five minutes off, because URLs expire by this clock',
    async (c) => {
      const { headers } = await c.openOnce();
      const differenceMs = Math.abs(Date.parse(headers.date ?? '') - Date.now());
      if (Number.isNaN(differenceMs)) return fail(headers.date ?? 'no Date');
      return judge(differenceMs < 300_000, `${Math.round(differenceMs / 1000)} s off`);
    },
  ),
  row('transport', 'uses https, or is on this machine', 'what-the-uploader-checks', 'https', async (c) => {
    const { protocol, hostname } = new URL(c.options.baseUrl);
    return judge(protocol === 'https:' || isLoopback(hostname), c.options.baseUrl);
  }),
  row(
    'slow-down',
    'sends Retry-After with 429 and 503',
    'errors',
    'Retry-After, in seconds or as a date',
    async (c) => {
      const [firstSlowDown] = c.slowDowns;
      if (!firstSlowDown) throw new Skip('no 429 and no 503 came');
      const value = firstSlowDown.headers['retry-after'];
      if (value === undefined) return fail(describe(firstSlowDown));
      return judge(/^\d+$/.test(value) || !Number.isNaN(Date.parse(value)), `Retry-After: ${value}`);
    },
  ),
]);

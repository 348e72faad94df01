// The token, and the separation of users.

import { type Check, row, table } from '../check.ts';
import { type Context, OPERATIONS, type Operation } from '../context.ts';
import type { Exchange } from '../exchange.ts';
import { describe, type Finding, fail, isOk, judge, pass, refuses, Skip } from '../finding.ts';

const WRONG_TOKEN = 'conform-wrong-token';
/** Statuses with a default meaning. For any other 4xx, the check proposes a setting in `profile.statuses`. */
const DEFAULT_STATUSES = [400, 403, 404, 408, 409, 410, 413, 422, 429];

/** Sends an operation that would succeed, with this token. */
async function ask(c: Context, operation: Operation, token: string | undefined): Promise<Exchange> {
  if (c.options.token === undefined) throw new Skip('the service needs no token');
  await c.require(operation);
  if (operation === 'open') return c.call('open', { body: c.sessionBody(), token });
  if (operation === 'batch')
    return c.call('batch', { body: { open: [c.sessionBody({ hashes: [] })] }, token });
  if (operation === 'cancel') return c.call('cancel', { session: await c.session(1000), token });
  const upload = operation === 'commit' ? await c.storedUpload() : await c.upload(500);
  if (operation === 'commit') return c.commit(upload, {}, { token });
  return c.presign(upload.session, upload.pieces, { token });
}

function expectTokenRejected(c: Context, response: Exchange): Finding {
  const { status } = response;
  if (status === 401) return pass(describe(response));
  const canAdapt = status > 400 && status < 500 && !DEFAULT_STATUSES.includes(status);
  if (canAdapt) return pass(describe(response), c.settings.setStatus('statuses', status, 'token'));
  return fail(describe(response), status === 403 ? "profile.statuses: { 403: 'token' }" : undefined);
}

async function askAsOtherUser(c: Context, operation: 'presign' | 'commit' | 'cancel'): Promise<Exchange> {
  if (c.options.secondToken === undefined) throw new Skip('pass --second-token-file');
  return ask(c, operation, c.options.secondToken);
}

const otherUserRow = (operation: 'presign' | 'commit' | 'cancel') =>
  row(
    `other-user-${operation}`,
    `${operation}: refuses the session of another user`,
    'what-the-service-must-do-for-a-page',
    'a 4xx',
    async (c: Context) => refuses(await askAsOtherUser(c, operation)),
  );

export const AUTH_CHECKS: readonly Check[] = table('auth', [
  ...OPERATIONS.flatMap((operation) => [
    row(
      `missing-${operation}`,
      `${operation}: needs the token`,
      'errors',
      '401 without a token',
      async (c: Context) => expectTokenRejected(c, await ask(c, operation, undefined)),
    ),
    row(
      `wrong-${operation}`,
      `${operation}: rejects a wrong token`,
      'errors',
      '401 for a wrong token',
      async (c: Context) => expectTokenRejected(c, await ask(c, operation, WRONG_TOKEN)),
    ),
  ]),
  row(
    'redirect',
    'does not redirect to a sign-in page',
    'what-the-service-must-do-for-a-page',
    'no 3xx',
    async (c) => {
      const { location } = await ask(c, 'open', WRONG_TOKEN);
      return judge(location === '', location || 'no redirect');
    },
  ),
  row(
    'scope',
    'does not call a wrong token a lack of rights',
    'errors',
    'no insufficient_scope in WWW-Authenticate, because the uploader then does not renew the token',
    async (c) => {
      const { headers } = await ask(c, 'open', WRONG_TOKEN);
      const wwwAuthenticate = String(headers['www-authenticate'] ?? '');
      return judge(!/insufficient_scope/i.test(wwwAuthenticate), wwwAuthenticate || 'no WWW-Authenticate');
    },
  ),
  otherUserRow('presign'),
  otherUserRow('commit'),
  otherUserRow('cancel'),
  row(
    'other-user-chunk',
    'does not report chunks of another user as stored',
    'your-service-differs-set-this',
    'an upload_url for a chunk that another user has stored',
    async (c) => {
      const { secondToken: token } = c.options;
      if (token === undefined) throw new Skip('pass --second-token-file');
      const { pieces } = await c.storedUpload();
      const dialect = await c.dialect();
      const openResponse = await c.call('open', { body: c.sessionBody({ file_size: 500 }), token });
      if (!isOk(openResponse)) throw new Skip(`the other user may not upload: ${describe(openResponse)}`);
      const response = await c.presign(dialect.sessionOf(openResponse) ?? '', pieces, { token });
      const [entry] = await c.entriesOf(response, pieces);
      return judge(!isOk(response) || entry?.url !== undefined, describe(response));
    },
  ),
]);

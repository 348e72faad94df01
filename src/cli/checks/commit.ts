// Completing and canceling an upload.

import { isDeepStrictEqual } from 'node:util';
import { isFields, readMissing } from '../../service/wire.ts';
import { type Check, row, table } from '../check.ts';
import { type Context, isPending, stateOf } from '../context.ts';
import type { Upload } from '../dialect.ts';
import { answerFor, differences, OF_THE_REQUEST } from '../exchange.ts';
import { accepted, describe, fail, isOk, isRefused, judge, pass, quick, refused, Skip } from '../finding.ts';

const SECTION = 'commit';
const DIFFERS = 'your-service-differs-set-this';

/** Expects that a commit fails. A 202 is not a success, but the file must then not be completed later. */
async function mustFail(c: Context, change: Readonly<Record<string, unknown>>) {
  const upload = await c.storedUpload();
  return refused(await c.commit(upload, change));
}

/** Resolves with a session that was canceled. */
const canceled = (c: Context): Promise<Upload> =>
  c.once('canceled upload', async () => {
    await c.require('cancel');
    const upload = await c.upload(500);
    const first = await c.call('cancel', { session: upload.session });
    if (!isOk(first)) throw new Skip(`the session was not canceled: ${describe(first)}`);
    return upload;
  });

export const COMMIT_CHECKS: readonly Check[] = table('commit', [
  row('status', 'completes an upload of two chunks', SECTION, 'a 2xx', async (c) => {
    await c.require('commit');
    const last = (await c.round()).commits.at(-1);
    if (!last)
      throw new Skip('there is no commit operation; without commit-path, an upload ends with its last chunk');
    if (!isOk(last)) return fail(describe(last));
    c.settings.setAttribute('commit-path', c.options.commitPath ?? '');
    return pass(describe(last), c.settings.lineOf('minChunkSize'));
  }),
  row('json', 'responds with JSON or an empty body', SECTION, 'JSON, or no body', async (c) => {
    const { commit } = await c.committed();
    return judge(commit.json !== undefined || commit.text.trim() === '', describe(commit));
  }),
  row(
    'pending',
    'completes the file in time',
    'commit-that-takes-a-while',
    '202 or profile.commitPending until it is complete',
    async (c) => {
      const { commits, commit } = await c.committed();
      const [first] = commits;
      if (isPending(commit))
        return fail(`still ${commit.status} after ${c.options.waitMs / 1000} s; pass --wait`);
      if (!first || !isPending(first)) return pass('complete at once');
      const state = stateOf(first.json);
      if (first.status === 202 || !state) return pass(`202, ${commits.length} commits`);
      const [name, word] = state;
      return pass(
        describe(first),
        c.settings.setProfile('commitPending', `({ body }) => body?.${name} === '${word}'`),
      );
    },
  ),
  row(
    'pending-retry-after',
    'says when to repeat the commit',
    'commit-that-takes-a-while',
    'Retry-After with 202',
    async (c) => {
      const [first] = (await c.committed()).commits;
      if (!first || !isPending(first)) throw new Skip('the commit completed the file at once');
      return pass(
        `Retry-After: ${first.headers['retry-after'] ?? 'missing; the uploader waits 2, 4, 8 and then 15 s'}`,
      );
    },
  ),
  row('size', 'returns the size of the file', SECTION, 'no file_size, or the size of the file', async (c) => {
    const { commit, upload } = await c.committed();
    const size = upload.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const value = isFields(commit.json) ? commit.json.file_size : undefined;
    return judge(value === undefined || value === size, String(value ?? 'no file_size'));
  }),
  row(
    'again',
    'accepts the same commit again',
    DIFFERS,
    'a 2xx, because a response can get lost',
    async (c) => accepted(await c.once('commit again', async () => c.commit((await c.committed()).upload))),
  ),
  row('again-same', 'creates no second file', DIFFERS, 'the same file_id', async (c) => {
    const { commit } = await c.committed();
    const again = await c.once('commit again', async () => c.commit((await c.committed()).upload));
    const idOf = (json: unknown): unknown => (isFields(json) ? json.file_id : undefined);
    if (idOf(commit.json) === undefined) throw new Skip('the response has no file_id');
    return judge(idOf(commit.json) === idOf(again.json), String(idOf(again.json)));
  }),
  row(
    'again-answer',
    'gives the same answer to the same commit',
    'commit-whose-response-is-lost',
    'the same JSON, or a 202',
    async (c) => {
      const { commit } = await c.committed();
      const again = await c.once('commit again', async () => c.commit((await c.committed()).upload));
      if (isPending(again)) return pass(`${describe(again)}, after which the commit is repeated`);
      if (!isOk(again)) return fail(describe(again));
      const changed = differences(commit, again).filter((name) => !OF_THE_REQUEST.test(name));
      return changed.length > 0 ? fail(`other values of ${changed.join(', ')}`) : pass('the same JSON');
    },
  ),
  row('missing', 'refuses chunks that were never sent', SECTION, 'a 4xx', async (c) => {
    await c.committed();
    return refused(await c.once('commit missing', async () => c.commit(await c.upload(500))));
  }),
  row(
    'missing-list',
    'lists the missing chunks',
    SECTION,
    '409 with their hashes in missing, so that the uploader sends them again',
    async (c) => {
      await c.committed();
      const upload = await c.upload(500);
      const response = await c.commit(upload);
      if (response.status !== 409)
        return isRefused(response) ? pass(`${describe(response)}; the file fails`) : fail(describe(response));
      const { missing } = isFields(response.json) ? response.json : {};
      if (missing === undefined) return pass('no list; the file fails');
      const { profile } = await c.dialect();
      const hashes = upload.pieces.map(({ hash }) => hash);
      return judge(
        isDeepStrictEqual(readMissing(answerFor(undefined, response), hashes, profile), hashes),
        JSON.stringify(missing),
      );
    },
  ),
  row('wrong-receipt', 'refuses a wrong receipt', DIFFERS, 'a 4xx', async (c) =>
    mustFail(c, { receipts: ['conform-wrong-receipt'] }),
  ),
  row('foreign-receipt', 'refuses the receipt of another chunk', DIFFERS, 'a 4xx', async (c) => {
    const other = await c.storedUpload();
    return mustFail(c, { receipts: [other.entries[0]?.receipt] });
  }),
  row('fewer-receipts', 'refuses a commit without receipts', SECTION, 'a 4xx', async (c) =>
    mustFail(c, { receipts: [] }),
  ),
  row('no-chunks', 'refuses a commit without the chunks of the file', SECTION, 'a 4xx', async (c) =>
    mustFail(c, { hashes: [], receipts: [] }),
  ),
  row('too-many-chunks', 'refuses chunks with more bytes than the file', SECTION, 'a 4xx', async (c) => {
    const upload = await c.storedUpload(c.partBytes);
    const dialect = await c.dialect();
    const [hash, receipt] = [dialect.encode(upload.pieces[0]?.hash ?? ''), upload.entries[0]?.receipt];
    return refused(await c.commit(upload, { hashes: [hash, hash], receipts: [receipt, receipt] }));
  }),
  row(
    'same-chunk-twice',
    'takes the same chunk twice',
    DIFFERS,
    'a 2xx for a file of two equal chunks',
    async (c) => {
      await c.committed();
      const piece = c.piece(c.partBytes);
      const once = await c.uploadOf([piece]);
      const session = await c.session(2 * c.partBytes);
      const presigned = await c.presign(session, [piece]);
      const [entry] = await c.entriesOf(presigned, [piece]);
      const sent = entry?.url === undefined ? undefined : await c.put(entry, piece.bytes);
      if (sent && !isOk(sent)) return fail(`the chunk was not stored: ${describe(sent)}`);
      const twice = { ...once, session, pieces: [piece, piece], entries: [entry, entry] };
      return accepted((await c.commitFully(twice)).at(-1) ?? presigned);
    },
  ),
  row('empty-file', 'completes an empty file', DIFFERS, 'a 2xx for a commit without chunks', async (c) => {
    await c.committed();
    const upload = { session: await c.session(0), pieces: [], entries: [], presigned: await c.opened() };
    const last = (await c.commitFully(upload)).at(-1);
    if (last && isOk(last)) return pass(describe(last));
    const isRefusal = last?.status === 400 || last?.status === 422;
    const line = isRefusal ? c.settings.setProfile('emptyFile', "'refuse'") : undefined;
    return line ? pass(describe(last ?? upload.presigned), line) : fail(describe(last ?? upload.presigned));
  }),
  row('other-session', 'refuses an unknown session', 'errors', 'a 4xx', async (c) => {
    const { upload } = await c.committed();
    return refused(await c.commit({ ...upload, session: 'conform-unknown-session' }));
  }),
  row(
    'bad-json',
    'refuses a body that is not JSON',
    'errors',
    'a 4xx, because a 5xx is retried',
    async (c) => {
      const { session } = await c.storedUpload();
      return refused(await c.call('commit', { session, body: '{"hashes":' }));
    },
  ),
  row(
    'after',
    'keeps a committed file',
    SECTION,
    'a 4xx for a commit of other chunks in the same session',
    async (c) => {
      const { upload } = await c.committed();
      const pieces = upload.pieces.slice(1);
      return refused(await c.commit({ ...upload, pieces, entries: upload.entries.slice(1) }));
    },
  ),
  row(
    'time',
    'responds quickly',
    'commit-that-takes-a-while',
    'at most 10 s; respond with 202 before',
    async (c) => quick((await c.committed()).commit),
  ),
]);

export const CANCEL_CHECKS: readonly Check[] = table('cancel', [
  row('status', 'cancels an upload', 'cancel', 'a 2xx', async (c) => {
    await c.require('cancel');
    const response = await c.canceled();
    if (!isOk(response)) return fail(describe(response));
    return pass(describe(response), c.settings.setAttribute('cancel-path', c.options.cancelPath ?? ''));
  }),
  row('again', 'accepts a second cancellation', 'cancel', 'a 2xx, 404 or 410', async (c) => {
    const upload = await canceled(c);
    const response = await c.call('cancel', { session: upload.session });
    return judge(isOk(response) || [404, 410].includes(response.status), describe(response));
  }),
  row('presign', 'says that a canceled session is over', 'errors', '404 or 410', async (c) => {
    const upload = await canceled(c);
    const response = await c.presign(upload.session, upload.pieces);
    const { status } = response;
    if (status === 404 || status === 410) return pass(describe(response));
    return isRefused(response)
      ? pass(describe(response), c.settings.setStatus('statuses', status, 'gone'))
      : fail(describe(response));
  }),
  row('commit', 'refuses to commit a canceled session', 'cancel', 'a 4xx', async (c) => {
    const upload = await canceled(c);
    return refused(await c.commit(upload));
  }),
  row('unknown', 'does not fail for an unknown session', 'cancel', 'a 2xx or a 4xx', async (c) => {
    await canceled(c);
    const response = await c.call('cancel', { session: 'conform-unknown-session' });
    return isOk(response) ? accepted(response) : refused(response);
  }),
]);

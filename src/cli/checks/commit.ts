// Completing and canceling an upload.

import { isDeepStrictEqual } from 'node:util';
import { isFields, readMissing } from '../../service/wire.ts';
import { type Check, row, table } from '../check.ts';
import { type Context, isPending, stateOf } from '../context.ts';
import type { Upload } from '../dialect.ts';
import { answerFor, differences, OF_THE_REQUEST } from '../exchange.ts';
import {
  accepts,
  describe,
  fail,
  isOk,
  isRefused,
  judge,
  judgeTime,
  pass,
  refuses,
  Skip,
} from '../finding.ts';

const SECTION = 'commit';
const DIFFERS = 'your-service-differs-set-this';

/** Expects that a commit fails. A 202 is not a success, but the file must then not be completed later. */
async function expectCommitRefusal(c: Context, change: Readonly<Record<string, unknown>>) {
  const upload = await c.storedUpload();
  return refuses(await c.commit(upload, change));
}

/** Resolves with a session that was canceled. */
const canceledUpload = (c: Context): Promise<Upload> =>
  c.once('canceled upload', async () => {
    await c.require('cancel');
    const upload = await c.upload(500);
    const response = await c.call('cancel', { session: upload.session });
    if (!isOk(response)) throw new Skip(`the session was not canceled: ${describe(response)}`);
    return upload;
  });

export const COMMIT_CHECKS: readonly Check[] = table('commit', [
  row('status', 'completes an upload of two chunks', SECTION, 'a 2xx', async (c) => {
    await c.require('commit');
    const lastCommit = (await c.round()).commits.at(-1);
    if (!lastCommit)
      throw new Skip('there is no commit operation; without commit-path, an upload ends with its last chunk');
    if (!isOk(lastCommit)) return fail(describe(lastCommit));
    c.settings.setAttribute('commit-path', c.options.commitPath ?? '');
    return pass(describe(lastCommit), c.settings.lineOf('minChunkSize'));
  }),
  row('json', 'responds with JSON or an empty body', SECTION, 'JSON, or no body', async (c) => {
    const { commit } = await c.committedRound();
    return judge(commit.json !== undefined || commit.text.trim() === '', describe(commit));
  }),
  row(
    'pending',
    'completes the file in time',
    'commit-that-takes-a-while',
    '202 or profile.commitPending until it is complete',
    async (c) => {
      const { commits, commit } = await c.committedRound();
      const [firstCommit] = commits;
      if (isPending(commit))
        return fail(`still ${commit.status} after ${c.options.waitMs / 1000} s; pass --wait`);
      if (!firstCommit || !isPending(firstCommit)) return pass('complete at once');
      const state = stateOf(firstCommit.json);
      if (firstCommit.status === 202 || !state) return pass(`202, ${commits.length} commits`);
      const [name, word] = state;
      return pass(
        describe(firstCommit),
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
      const [firstCommit] = (await c.committedRound()).commits;
      if (!firstCommit || !isPending(firstCommit)) throw new Skip('the commit completed the file at once');
      return pass(
        `Retry-After: ${firstCommit.headers['retry-after'] ?? 'missing; the uploader waits 2, 4, 8 and then 15 s'}`,
      );
    },
  ),
  row('size', 'returns the size of the file', SECTION, 'no file_size, or the size of the file', async (c) => {
    const { commit, upload } = await c.committedRound();
    const size = upload.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const value = isFields(commit.json) ? commit.json.file_size : undefined;
    return judge(value === undefined || value === size, String(value ?? 'no file_size'));
  }),
  row(
    'again',
    'accepts the same commit again',
    DIFFERS,
    'a 2xx, because a response can get lost',
    async (c) =>
      accepts(await c.once('commit again', async () => c.commit((await c.committedRound()).upload))),
  ),
  row('again-same', 'creates no second file', DIFFERS, 'the same file_id', async (c) => {
    const { commit } = await c.committedRound();
    const secondCommit = await c.once('commit again', async () =>
      c.commit((await c.committedRound()).upload),
    );
    const idOf = (json: unknown): unknown => (isFields(json) ? json.file_id : undefined);
    if (idOf(commit.json) === undefined) throw new Skip('the response has no file_id');
    return judge(idOf(commit.json) === idOf(secondCommit.json), String(idOf(secondCommit.json)));
  }),
  row(
    'again-answer',
    'gives the same answer to the same commit',
    'commit-whose-response-is-lost',
    'the same JSON, or a 202',
    async (c) => {
      const { commit } = await c.committedRound();
      const secondCommit = await c.once('commit again', async () =>
        c.commit((await c.committedRound()).upload),
      );
      if (isPending(secondCommit))
        return pass(`${describe(secondCommit)}, after which the commit is repeated`);
      if (!isOk(secondCommit)) return fail(describe(secondCommit));
      const changedNames = differences(commit, secondCommit).filter((name) => !OF_THE_REQUEST.test(name));
      return changedNames.length > 0
        ? fail(`other values of ${changedNames.join(', ')}`)
        : pass('the same JSON');
    },
  ),
  row('missing', 'refuses chunks that were never sent', SECTION, 'a 4xx', async (c) => {
    await c.committedRound();
    return refuses(await c.once('commit missing', async () => c.commit(await c.upload(500))));
  }),
  row(
    'missing-list',
    'lists the missing chunks',
    SECTION,
    '409 with their hashes in missing, so that the uploader sends them again',
    async (c) => {
      await c.committedRound();
      const upload = await c.upload(500);
      const response = await c.commit(upload);
      if (response.status !== 409)
        return isRefused(response) ? pass(`${describe(response)}; the file fails`) : fail(describe(response));
      const { missing: missingHashes } = isFields(response.json) ? response.json : {};
      if (missingHashes === undefined) return pass('no list; the file fails');
      const { profile } = await c.dialect();
      const hashes = upload.pieces.map(({ hash }) => hash);
      return judge(
        isDeepStrictEqual(readMissing(answerFor(undefined, response), hashes, profile), hashes),
        JSON.stringify(missingHashes),
      );
    },
  ),
  row('wrong-receipt', 'refuses a wrong receipt', DIFFERS, 'a 4xx', async (c) =>
    expectCommitRefusal(c, { receipts: ['conform-wrong-receipt'] }),
  ),
  row('foreign-receipt', 'refuses the receipt of another chunk', DIFFERS, 'a 4xx', async (c) => {
    const otherUpload = await c.storedUpload();
    return expectCommitRefusal(c, { receipts: [otherUpload.entries[0]?.receipt] });
  }),
  row('fewer-receipts', 'refuses a commit without receipts', SECTION, 'a 4xx', async (c) =>
    expectCommitRefusal(c, { receipts: [] }),
  ),
  row('no-chunks', 'refuses a commit without the chunks of the file', SECTION, 'a 4xx', async (c) =>
    expectCommitRefusal(c, { hashes: [], receipts: [] }),
  ),
  row('too-many-chunks', 'refuses chunks with more bytes than the file', SECTION, 'a 4xx', async (c) => {
    const upload = await c.storedUpload(c.partBytes);
    const dialect = await c.dialect();
    const [hash, receipt] = [dialect.encode(upload.pieces[0]?.hash ?? ''), upload.entries[0]?.receipt];
    return refuses(await c.commit(upload, { hashes: [hash, hash], receipts: [receipt, receipt] }));
  }),
  row(
    'same-chunk-twice',
    'takes the same chunk twice',
    DIFFERS,
    'a 2xx for a file of two equal chunks',
    async (c) => {
      await c.committedRound();
      const piece = c.piece(c.partBytes);
      const upload = await c.uploadOf([piece]);
      const session = await c.session(2 * c.partBytes);
      const presignResponse = await c.presign(session, [piece]);
      const [entry] = await c.entriesOf(presignResponse, [piece]);
      const putResponse = entry?.url === undefined ? undefined : await c.put(entry, piece.bytes);
      if (putResponse && !isOk(putResponse))
        return fail(`the chunk was not stored: ${describe(putResponse)}`);
      const doubledUpload = { ...upload, session, pieces: [piece, piece], entries: [entry, entry] };
      return accepts((await c.commitFully(doubledUpload)).at(-1) ?? presignResponse);
    },
  ),
  row('empty-file', 'completes an empty file', DIFFERS, 'a 2xx for a commit without chunks', async (c) => {
    await c.committedRound();
    const upload = {
      session: await c.session(0),
      pieces: [],
      entries: [],
      presignResponse: await c.openOnce(),
    };
    const lastCommit = (await c.commitFully(upload)).at(-1);
    if (lastCommit && isOk(lastCommit)) return pass(describe(lastCommit));
    const isRefusal = lastCommit?.status === 400 || lastCommit?.status === 422;
    const line = isRefusal ? c.settings.setProfile('emptyFile', "'refuse'") : undefined;
    return line
      ? pass(describe(lastCommit ?? upload.presignResponse), line)
      : fail(describe(lastCommit ?? upload.presignResponse));
  }),
  row('other-session', 'refuses an unknown session', 'errors', 'a 4xx', async (c) => {
    const { upload } = await c.committedRound();
    return refuses(await c.commit({ ...upload, session: 'conform-unknown-session' }));
  }),
  row(
    'bad-json',
    'refuses a body that is not JSON',
    'errors',
    'a 4xx, because a 5xx is retried',
    async (c) => {
      const { session } = await c.storedUpload();
      return refuses(await c.call('commit', { session, body: '{"hashes":' }));
    },
  ),
  row(
    'after',
    'keeps a committed file',
    SECTION,
    'a 4xx for a commit of other chunks in the same session',
    async (c) => {
      const { upload } = await c.committedRound();
      const pieces = upload.pieces.slice(1);
      return refuses(await c.commit({ ...upload, pieces, entries: upload.entries.slice(1) }));
    },
  ),
  row(
    'time',
    'responds quickly',
    'commit-that-takes-a-while',
    'at most 10 s; respond with 202 before',
    async (c) => judgeTime((await c.committedRound()).commit),
  ),
]);

export const CANCEL_CHECKS: readonly Check[] = table('cancel', [
  row('status', 'cancels an upload', 'cancel', 'a 2xx', async (c) => {
    await c.require('cancel');
    const response = await c.cancelOnce();
    if (!isOk(response)) return fail(describe(response));
    return pass(describe(response), c.settings.setAttribute('cancel-path', c.options.cancelPath ?? ''));
  }),
  row('again', 'accepts a second cancellation', 'cancel', 'a 2xx, 404 or 410', async (c) => {
    const upload = await canceledUpload(c);
    const response = await c.call('cancel', { session: upload.session });
    return judge(isOk(response) || [404, 410].includes(response.status), describe(response));
  }),
  row('presign', 'says that a canceled session is over', 'errors', '404 or 410', async (c) => {
    const upload = await canceledUpload(c);
    const response = await c.presign(upload.session, upload.pieces);
    const { status } = response;
    if (status === 404 || status === 410) return pass(describe(response));
    return isRefused(response)
      ? pass(describe(response), c.settings.setStatus('statuses', status, 'gone'))
      : fail(describe(response));
  }),
  row('commit', 'refuses to commit a canceled session', 'cancel', 'a 4xx', async (c) => {
    const upload = await canceledUpload(c);
    return refuses(await c.commit(upload));
  }),
  row('unknown', 'does not fail for an unknown session', 'cancel', 'a 2xx or a 4xx', async (c) => {
    await canceledUpload(c);
    const response = await c.call('cancel', { session: 'conform-unknown-session' });
    return isOk(response) ? accepts(response) : refuses(response);
  }),
]);

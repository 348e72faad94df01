// Many small files in one request (U22).

import { type Check, row, table } from '../check.ts';
import { type Context, isPending, type Piece, type Upload } from '../context.ts';
import { differences, type Exchange, isFields, OF_THE_REQUEST } from '../exchange.ts';
import {
  accepted,
  describe,
  type Finding,
  fail,
  isOk,
  isRefused,
  judge,
  pass,
  quick,
  refused,
  Skip,
} from '../finding.ts';

const SECTION = 'batches-for-many-small-files';
const CHUNK_BYTES = 500;
const MAX_FILES = 64;
const MAX_HASHES = 100;
/** Answered without any change of the service. */
const UNKNOWN = { session: 'conform-unknown-session', hashes: [], receipts: [] };

/** Returns each answer as if it were the response to a request of its own. Throws an error if there are none. */
function answersOf(response: Exchange): Exchange[] {
  const answers = isFields(response.json) ? response.json.answers : undefined;
  if (response.status !== 200 || !Array.isArray(answers)) throw new Error(describe(response));
  return answers.map((answer): Exchange => {
    const {
      status,
      body,
      retry_after: seconds,
    }: Readonly<Record<string, unknown>> = isFields(answer) ? answer : {};
    return {
      ...response,
      status: Number.isInteger(status) ? Number(status) : 0,
      headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
      error: 'an answer without a status',
      json: body,
      text: JSON.stringify(body) ?? '',
    };
  });
}

const said = (answers: readonly Exchange[]): string => answers.map(describe).join('; ');

interface Opened {
  readonly response: Exchange;
  readonly pieces: readonly Piece[];
}

/** Opens files of one chunk. The changes are fields of single files. */
async function open(c: Context, ...changes: object[]): Promise<Opened> {
  await c.require('batch');
  const { bodyOf, sessionOf } = await c.dialect();
  const pieces = changes.map(() => c.piece(CHUNK_BYTES));
  const files = changes.map((change, at) => ({
    ...c.sessionBody({ file_size: CHUNK_BYTES }),
    ...bodyOf(pieces.slice(at, at + 1)),
    ...change,
  }));
  const response = await c.call('batch', { body: { open: files } });
  const answers = isFields(response.json) ? response.json.answers : undefined;
  for (const answer of Array.isArray(answers) ? answersOf({ ...response, status: 200 }) : []) {
    const session = isOk(answer) ? sessionOf(answer) : undefined;
    if (session !== undefined) c.toCancel.push(session);
  }
  return { response, pieces };
}
const pair = (c: Context): Promise<Opened> => c.once('batch of two files', () => open(c, {}, {}));
/** The last file is not valid. */
const mixed = (c: Context): Promise<Opened> =>
  c.once('batch with a wrong file', () => open(c, {}, {}, { file_size: -1 }));

const committing = async (c: Context, upload: Upload, change: object = {}): Promise<object> => {
  const { encode } = await c.dialect();
  const hashes = upload.pieces.map(({ hash }) => encode(hash));
  const receipts = upload.entries.map((entry) => entry?.receipt ?? '');
  return { session: upload.session, hashes, receipts, ...change };
};
const commit = (c: Context, files: readonly object[], token?: string): Promise<Exchange> =>
  c.call('batch', { body: { commit: files }, ...(token !== undefined && { token }) });

/** Two files that were committed in a batch, and the last response. */
const committed = (c: Context): Promise<{ uploads: readonly Upload[]; response: Exchange }> =>
  c.once('committed batch', async () => {
    await c.require('batch');
    const uploads = [await c.storedUpload(), await c.storedUpload()];
    const files = await Promise.all(uploads.map((upload) => committing(c, upload)));
    const endMs = performance.now() + c.options.waitMs;
    for (;;) {
      const response = await commit(c, files);
      const isLate = performance.now() > endMs || response.status !== 200;
      if (isLate || !answersOf(response).some(isPending)) return { uploads, response };
      await c.wait(1000);
    }
  });

/** The answers to the committed files. Throws `Skip` if the commit failed. */
async function completed(c: Context): Promise<{ uploads: readonly Upload[]; answers: readonly Exchange[] }> {
  const { uploads, response } = await committed(c);
  const answers = response.status === 200 ? answersOf(response) : [];
  if (answers.length !== uploads.length || !answers.every(isOk))
    throw new Skip('the commit in a batch failed');
  return { uploads, answers };
}

/** Compares the response to a repeated commit with the answer before. */
function same(before: Exchange | undefined, again: Exchange | undefined): Finding {
  if (!before || !again || !isOk(again) || isPending(again))
    return fail(again ? describe(again) : 'no answer');
  const changed = differences(before, again).filter((name) => !OF_THE_REQUEST.test(name));
  return changed.length > 0 ? fail(`other values of ${changed.join(', ')}`) : pass('the same JSON');
}

export const BATCH_CHECKS: readonly Check[] = table('batch', [
  row('status', 'opens two files', SECTION, '200 with answers', async (c) => {
    const { response } = await pair(c);
    const answers = answersOf(response);
    return pass(said(answers), c.settings.setAttribute('batch-path', c.options.batchPath ?? ''));
  }),
  row('count', 'has one answer for each file', SECTION, '2 answers', async (c) => {
    const { length } = answersOf((await pair(c)).response);
    return judge(length === 2, `${length} answers`);
  }),
  row(
    'file-status',
    'has a status and a body in each answer',
    SECTION,
    'a number, and an object',
    async (c) => {
      const answers = answersOf((await mixed(c)).response);
      return judge(
        answers.every(({ status, json }) => status >= 200 && isFields(json)),
        said(answers),
      );
    },
  ),
  row('file-error', 'opens files beside one that it refuses', SECTION, '201, 201 and a 4xx', async (c) => {
    const answers = answersOf((await mixed(c)).response);
    const [first, second, wrong, ...more] = answers;
    const isRight = [first, second].every((answer) => answer?.status === 201) && more.length === 0;
    return judge(isRight && wrong !== undefined && isRefused(wrong), said(answers));
  }),
  row(
    'order',
    'answers in the order of the request',
    SECTION,
    'the chunks of each file in its answer',
    async (c) => {
      const { response, pieces } = await pair(c);
      const { entryOf } = await c.dialect();
      const answers = answersOf(response);
      const isFound = (answer: Exchange | undefined, piece: Piece): boolean => {
        const chunks = isFields(answer?.json) ? answer.json.chunks : undefined;
        return isFields(chunks) && isFields(entryOf(chunks, 1, piece, 0));
      };
      if (!answers.some(({ json }) => isFields(json) && isFields(json.chunks)))
        throw new Skip('there are no chunks');
      return judge(
        pieces.every((piece, at) => isFound(answers[at], piece)),
        said(answers),
      );
    },
  ),
  row(
    'chunks',
    'presigns the chunks',
    SECTION,
    'chunks in each 201, otherwise each file costs a request more',
    async (c) => {
      const answers = answersOf((await pair(c)).response);
      return judge(
        answers.every(({ json }) => isFields(json) && isFields(json.chunks)),
        said(answers),
      );
    },
  ),
  row(
    'session',
    'has the session in the body of an answer',
    SECTION,
    'a session that the presign request accepts',
    async (c) => {
      const { response, pieces } = await pair(c);
      const [answer] = answersOf(response);
      const session = answer && (await c.dialect()).sessionOf(answer);
      if (session === undefined) return fail(answer ? describe(answer) : 'no answer');
      return accepted(await c.presign(session, pieces.slice(0, 1)));
    },
  ),
  row('commit', 'commits two files', SECTION, '200 with a 2xx for each file', async (c) => {
    const { response } = await committed(c);
    const answers = answersOf(response);
    if (answers.some(isPending)) return fail(`still 202 after ${c.options.waitMs / 1000} s; pass --wait`);
    return judge(answers.length === 2 && answers.every(isOk), said(answers));
  }),
  row(
    'commit-again',
    'gives the same answers to the same batch',
    'commit-whose-response-is-lost',
    'the same JSON',
    async (c) => {
      const { uploads, answers } = await completed(c);
      const files = await Promise.all(uploads.map((upload) => committing(c, upload)));
      const again = answersOf(await commit(c, files));
      const findings = answers.map((answer, at) => same(answer, again[at]));
      return findings.find(({ outcome }) => outcome === 'fail') ?? pass('the same JSON');
    },
  ),
  row(
    'commit-single',
    'gives the same answer to a single commit',
    SECTION,
    'the same JSON; the answer is 202 while the file is not complete',
    async (c) => {
      const { uploads, answers } = await completed(c);
      const [upload] = uploads;
      return upload ? same(answers[0], await c.commit(upload)) : fail('no file');
    },
  ),
  row(
    'single-commit',
    'gives a file that was committed alone the same answer',
    SECTION,
    'the same JSON',
    async (c) => {
      await c.require('batch');
      const upload = await c.storedUpload();
      const before = (await c.commitFully(upload)).at(-1);
      return same(before, answersOf(await commit(c, [await committing(c, upload)]))[0]);
    },
  ),
  row('commit-error', 'commits a file beside one that it refuses', SECTION, 'a 4xx and a 2xx', async (c) => {
    const { uploads } = await completed(c);
    const [right] = uploads;
    if (!right) throw new Skip('there is no file');
    const answers = answersOf(await commit(c, [UNKNOWN, await committing(c, right)]));
    const [wrong, last, ...more] = answers;
    const isRight = wrong && isRefused(wrong) && last && isOk(last) && more.length === 0;
    return judge(Boolean(isRight), said(answers));
  }),
  row(
    'other-user',
    'refuses the session of another user',
    'what-the-service-must-do-for-a-page',
    'a 4xx in the answer',
    async (c) => {
      const { secondToken } = c.options;
      if (secondToken === undefined) throw new Skip('pass --second-token-file');
      await c.require('batch');
      const response = await commit(c, [await committing(c, await c.storedUpload())], secondToken);
      if (isRefused(response)) return pass(describe(response));
      const answers = answersOf(response);
      return judge(answers.length > 0 && answers.every(isRefused), said(answers));
    },
  ),
  row('retry-after', 'says in seconds when to repeat', SECTION, 'no retry_after, or a number', async (c) => {
    const responses = [(await pair(c)).response, (await mixed(c)).response];
    const all = responses.flatMap(({ json }) =>
      isFields(json) && Array.isArray(json.answers) ? json.answers : [],
    );
    const values = all.map((answer) => (isFields(answer) ? answer.retry_after : undefined));
    const wrong = values.find((value) => value !== undefined && !(typeof value === 'number' && value >= 0));
    return judge(wrong === undefined, wrong === undefined ? 'none, or numbers' : JSON.stringify(wrong));
  }),
  row(
    'most-files',
    'takes 64 files',
    SECTION,
    '64 answers with a 4xx, to sessions that do not exist',
    async (c) => {
      await c.require('batch');
      const answers = answersOf(await commit(c, Array(MAX_FILES).fill(UNKNOWN)));
      return judge(answers.length === MAX_FILES && answers.every(isRefused), `${answers.length} answers`);
    },
  ),
  row('too-many-files', 'refuses 65 files', SECTION, 'a 4xx, because limits count files', async (c) => {
    await c.require('batch');
    return refused(await commit(c, Array(MAX_FILES + 1).fill(UNKNOWN)));
  }),
  row(
    'too-many-hashes',
    'refuses 101 hashes of two files',
    SECTION,
    'a 4xx, because limits count files',
    async (c) => {
      await c.require('batch');
      const { encode } = await c.dialect();
      const { hash } = c.piece(1);
      const fileOf = (count: number): object => ({ ...UNKNOWN, hashes: Array(count).fill(encode(hash)) });
      return refused(await commit(c, [fileOf(MAX_HASHES / 2), fileOf(MAX_HASHES / 2 + 1)]));
    },
  ),
  ...Object.entries({ 'no-files': { open: [] }, 'no-list': {}, both: { open: [{}], commit: [UNKNOWN] } }).map(
    ([id, body]) =>
      row(id, `refuses ${JSON.stringify(body)}`, SECTION, 'a 4xx', async (c: Context) => {
        await c.require('batch');
        return refused(await c.call('batch', { body }));
      }),
  ),
  row(
    'bad-json',
    'refuses a body that is not JSON',
    'errors',
    'a 4xx, because a 5xx is retried',
    async (c) => {
      await c.require('batch');
      return refused(await c.call('batch', { body: '{"open":' }));
    },
  ),
  row('time', 'responds quickly', SECTION, 'at most 10 s', async (c) => quick((await pair(c)).response)),
]);

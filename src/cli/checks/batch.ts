// Many small files in one request (U22).

import { isFields } from '../../service/wire.ts';
import { answersOf, listIn, openBatch } from '../batches.ts';
import { type Check, row, table } from '../check.ts';
import { type Context, isPending } from '../context.ts';
import { chunksOf, type Piece, type Upload } from '../dialect.ts';
import { differences, type Exchange, OF_THE_REQUEST } from '../exchange.ts';
import {
  accepts,
  describe,
  type Finding,
  fail,
  isOk,
  isRefused,
  judge,
  judgeTime,
  pass,
  refuses,
  Skip,
} from '../finding.ts';

const SECTION = 'batches-for-many-small-files';
const CHUNK_BYTES = 500;
const MAX_FILES = 64;
const MAX_HASHES = 100;
const NO_CHUNKS = { hashes: [], receipts: [] };
/** Answered without any change of the service. */
const unknownFile = (at = 0): object => ({ session: `conform-unknown-session-${at}`, ...NO_CHUNKS });
/** Different ones: a service may refuse a batch that has a session twice. */
const unknownFiles = (count: number): object[] => Array.from({ length: count }, (_, at) => unknownFile(at));

/** True if only the file is refused. A 401 would be for the whole batch. */
const isFileRefused = (answer: Exchange): boolean => isRefused(answer) && answer.status !== 401;

const describeAll = (answers: readonly Exchange[]): string => answers.map(describe).join('; ');

interface Batch {
  readonly response: Exchange;
  readonly files: readonly Readonly<Record<string, unknown>>[];
  readonly pieces: readonly Piece[];
}

/** Opens files of one chunk and of different sizes. The changes are fields of single files. */
async function openFiles(c: Context, ...changes: object[]): Promise<Batch> {
  await c.requireBatch();
  const dialect = await c.dialect();
  const pieces = changes.map((_, at) => c.piece(CHUNK_BYTES + at));
  const files = changes.map((change, at) => ({
    ...c.sessionBody({ file_size: CHUNK_BYTES + at }),
    ...dialect.presignBody(pieces.slice(at, at + 1)),
    ...change,
  }));
  return { response: await openBatch(c, files), files, pieces };
}
const openPair = (c: Context): Promise<Batch> => c.once('batch of two files', () => openFiles(c, {}, {}));
/** The file in the middle is not valid. */
const openMixed = (c: Context): Promise<Batch> =>
  c.once('batch with a wrong file', () => openFiles(c, {}, { file_size: -1 }, {}));

/** True if an answer has the chunk of its file, or none. */
async function hasOwnChunk(c: Context, answer: Exchange, piece: Piece): Promise<boolean> {
  if (!chunksOf(answer)) return true;
  const [entry] = await c.entriesOf(answer, [piece]);
  if (!entry) return false;
  // Keys that are positions are the same for all files. The storage knows the chunk.
  const [foreignEntry] = await c.entriesOf(answer, [c.piece(1)]);
  return !foreignEntry || c.options.hash === 'blake3' || isOk(await c.put(entry, piece.bytes));
}

const commitEntryOf = async (c: Context, upload: Upload): Promise<object> => ({
  session: upload.session,
  ...(await c.dialect()).commitBody(upload),
});
const commit = (c: Context, files: readonly object[], token?: string): Promise<Exchange> =>
  c.call('batch', { body: { commit: files }, ...(token !== undefined && { token }) });

interface Commits {
  readonly responses: readonly Exchange[];
  /** The last response. */
  readonly response: Exchange;
}

/** Commits until the service has completed the files. */
async function commitFully(c: Context, uploads: readonly Upload[]): Promise<Commits> {
  const files = await Promise.all(uploads.map((upload) => commitEntryOf(c, upload)));
  const endMs = performance.now() + c.options.waitMs;
  const responses: Exchange[] = [];
  for (;;) {
    const response = await commit(c, files);
    responses.push(response);
    const isLate = performance.now() > endMs || response.status !== 200;
    if (isLate || !answersOf(response).some(isPending)) return { responses, response };
    await c.wait(1000);
  }
}

/** Two files that were committed in a batch, and the responses. */
const committedBatch = (c: Context): Promise<Commits & { readonly uploads: readonly Upload[] }> =>
  c.once('committed batch', async () => {
    await c.requireBatch();
    const uploads = [await c.storedUpload(), await c.storedUpload()];
    return { uploads, ...(await commitFully(c, uploads)) };
  });

/** The upload of a file that was opened in a batch, with its chunk stored. */
async function storeChunk(c: Context, answer: Exchange, piece: Piece): Promise<Upload> {
  const session = isOk(answer) ? (await c.dialect()).sessionOf(answer) : undefined;
  if (session === undefined) throw new Skip(`no session: ${describe(answer)}`);
  const pieces = [piece];
  const presignResponse = chunksOf(answer) ? answer : await c.presign(session, pieces);
  const entries = await c.entriesOf(presignResponse, pieces);
  const putResponse = await c.put(entries[0], piece.bytes);
  if (!isOk(putResponse)) throw new Error(`the chunk was not stored: ${describe(putResponse)}`);
  return { session, pieces, entries, presignResponse };
}

/** The answers to the committed files. Throws `Skip` if the commit failed. */
async function completedBatch(c: Context): Promise<{ uploads: readonly Upload[]; answers: Exchange[] }> {
  const { uploads, response } = await committedBatch(c);
  const answers = response.status === 200 ? answersOf(response) : [];
  if (answers.length !== uploads.length || !answers.every(isOk))
    throw new Skip('the commit in a batch failed');
  return { uploads, answers };
}

/** Compares the response to a repeated commit with the answer before. */
function compare(firstAnswer: Exchange | undefined, secondAnswer: Exchange | undefined): Finding {
  if (!firstAnswer || !secondAnswer || !isOk(secondAnswer) || isPending(secondAnswer))
    return fail(secondAnswer ? describe(secondAnswer) : 'no answer');
  const changedNames = differences(firstAnswer, secondAnswer).filter((name) => !OF_THE_REQUEST.test(name));
  return changedNames.length > 0 ? fail(`other values of ${changedNames.join(', ')}`) : pass('the same JSON');
}

export const BATCH_CHECKS: readonly Check[] = table('batch', [
  row('status', 'opens two files', SECTION, '200 with answers', async (c) => {
    await c.require('batch');
    answersOf(await c.batch());
    const { response } = await openPair(c);
    const answers = answersOf(response);
    return pass(describeAll(answers), c.settings.setAttribute('batch-path', c.options.batchPath ?? ''));
  }),
  row('count', 'has one answer for each file', SECTION, '2 answers', async (c) => {
    const { length } = answersOf((await openPair(c)).response);
    return judge(length === 2, `${length} answers`);
  }),
  row(
    'file-status',
    'has a status and a body in each answer',
    SECTION,
    'a number, and an object',
    async (c) => {
      const answers = answersOf((await openMixed(c)).response);
      return judge(
        answers.every(({ status, json }) => status >= 200 && isFields(json)),
        describeAll(answers),
      );
    },
  ),
  row(
    'file-error',
    'opens files beside one that it refuses',
    SECTION,
    'a 2xx, a 4xx (not 401) and a 2xx, with the chunks of each file in its answer',
    async (c) => {
      const { response, pieces } = await openMixed(c);
      const answers = answersOf(response);
      const [firstAnswer, wrongAnswer, lastAnswer, ...excess] = answers;
      const [firstPiece, , lastPiece] = pieces;
      if (!firstAnswer || !wrongAnswer || !lastAnswer || !firstPiece || !lastPiece || excess.length > 0)
        return fail(describeAll(answers));
      const isRight = isOk(firstAnswer) && isFileRefused(wrongAnswer) && isOk(lastAnswer);
      const hasOwnChunks =
        (await hasOwnChunk(c, firstAnswer, firstPiece)) && (await hasOwnChunk(c, lastAnswer, lastPiece));
      return judge(isRight && hasOwnChunks, describeAll(answers));
    },
  ),
  row(
    'order',
    'answers in the order of the request',
    SECTION,
    'the chunks of each file in its answer',
    async (c) => {
      const { response, pieces } = await openPair(c);
      const answers = answersOf(response);
      if (!answers.some(chunksOf)) throw new Skip('there are no chunks');
      for (const [at, piece] of pieces.entries()) {
        const answer = answers[at];
        if (!answer || !(await hasOwnChunk(c, answer, piece))) return fail(describeAll(answers));
      }
      return pass(describeAll(answers));
    },
  ),
  row('chunks', 'presigns the chunks, or leaves them out', SECTION, 'an object, or no chunks', async (c) => {
    const answers = answersOf((await openPair(c)).response);
    const hasChunks = ({ json }: Exchange): boolean => isFields(json) && json.chunks !== undefined;
    if (!answers.some(hasChunks)) throw new Skip('there are no chunks: each file costs a request more');
    const isRight = (answer: Exchange): boolean => !hasChunks(answer) || chunksOf(answer) !== undefined;
    return judge(answers.every(isRight), describeAll(answers));
  }),
  row(
    'session',
    'has the session in the body of an answer',
    SECTION,
    'a session that the presign request accepts',
    async (c) => {
      const { response, pieces } = await openPair(c);
      const [answer] = answersOf(response);
      const session = answer && (await c.dialect()).sessionOf(answer);
      if (session === undefined) return fail(answer ? describe(answer) : 'no answer');
      return accepts(await c.presign(session, pieces.slice(0, 1)));
    },
  ),
  row('commit', 'commits two files', SECTION, '200 with a 2xx for each file', async (c) => {
    const { response } = await committedBatch(c);
    const answers = answersOf(response);
    if (answers.some(isPending)) return fail(`still 202 after ${c.options.waitMs / 1000} s; pass --wait`);
    return judge(answers.length === 2 && answers.every(isOk), describeAll(answers));
  }),
  row(
    'files',
    'completes each file with its own name and size',
    SECTION,
    'the file_name and the file_size of each request, if the answer has them',
    async (c) => {
      await c.committedRound();
      const { response, files, pieces } = await c.once('complete files', () => openFiles(c, {}, {}));
      const uploads: Upload[] = [];
      for (const [at, answer] of answersOf(response).entries())
        uploads.push(await storeChunk(c, answer, pieces[at] ?? c.piece(1)));
      const answers = answersOf((await commitFully(c, uploads)).response);
      if (!answers.every(isOk) || answers.some(isPending)) return fail(describeAll(answers));
      const isSame = (name: string): boolean =>
        answers.every(
          ({ json }, at) => !isFields(json) || [undefined, files[at]?.[name]].includes(json[name]),
        );
      return judge(isSame('file_name') && isSame('file_size'), describeAll(answers));
    },
  ),
  row(
    'empty',
    'opens and commits an empty file as it does alone',
    SECTION,
    'a 2xx without entries in chunks, and a 2xx',
    async (c) => {
      await c.committedRound();
      const emptyUpload = { pieces: [], entries: [], presignResponse: await c.openOnce() };
      const singleCommit = (await c.commitFully({ ...emptyUpload, session: await c.session(0) })).at(-1);
      if (!singleCommit || !isOk(singleCommit)) throw new Skip('the service takes no empty files');
      const dialect = await c.dialect();
      const { response } = await openFiles(c, {}, { file_size: 0, ...dialect.presignBody([]) }, {});
      const answers = answersOf(response);
      const emptyAnswer = answers[1];
      const session = emptyAnswer && isOk(emptyAnswer) ? dialect.sessionOf(emptyAnswer) : undefined;
      if (!emptyAnswer || session === undefined || !answers.every(isOk)) return fail(describeAll(answers));
      if (Object.keys(chunksOf(emptyAnswer) ?? {}).length > 0) return fail(describe(emptyAnswer));
      const commitAnswers = answersOf((await commitFully(c, [{ ...emptyUpload, session }])).response);
      return judge(commitAnswers.length === 1 && commitAnswers.every(isOk), describeAll(commitAnswers));
    },
  ),
  row(
    'commit-again',
    'gives the same answers to the same batch',
    'commit-whose-response-is-lost',
    'the same JSON',
    async (c) => {
      const { uploads, answers } = await completedBatch(c);
      const files = await Promise.all(uploads.map((upload) => commitEntryOf(c, upload)));
      const secondAnswers = answersOf(await commit(c, files));
      const findings = answers.map((answer, at) => compare(answer, secondAnswers[at]));
      return findings.find(({ outcome }) => outcome === 'fail') ?? pass('the same JSON');
    },
  ),
  row(
    'commit-single',
    'gives the same answer to a single commit',
    SECTION,
    'the same JSON; the answer is 202 while the file is not complete',
    async (c) => {
      const { uploads, answers } = await completedBatch(c);
      const [upload] = uploads;
      return upload ? compare(answers[0], await c.commit(upload)) : fail('no file');
    },
  ),
  row(
    'single-commit',
    'gives a file that was committed alone the same answer',
    SECTION,
    'the same JSON',
    async (c) => {
      await c.requireBatch();
      const upload = await c.storedUpload();
      const singleCommit = (await c.commitFully(upload)).at(-1);
      return compare(singleCommit, answersOf(await commit(c, [await commitEntryOf(c, upload)]))[0]);
    },
  ),
  row(
    'commit-error',
    'commits files beside one that it refuses',
    SECTION,
    'a 2xx, a 4xx (not 401) and a 2xx, with the same JSON as before',
    async (c) => {
      const { uploads, answers: firstAnswers } = await completedBatch(c);
      const [firstFile, secondFile] = await Promise.all(uploads.map((upload) => commitEntryOf(c, upload)));
      if (!firstFile || !secondFile) throw new Skip('there are no files');
      const answers = answersOf(await commit(c, [firstFile, unknownFile(), secondFile]));
      const [firstAnswer, wrongAnswer, lastAnswer, ...excess] = answers;
      if (!wrongAnswer || !isFileRefused(wrongAnswer) || excess.length > 0) return fail(describeAll(answers));
      const findings = [compare(firstAnswers[0], firstAnswer), compare(firstAnswers[1], lastAnswer)];
      return findings.find(({ outcome }) => outcome === 'fail') ?? pass(describeAll(answers));
    },
  ),
  row(
    'other-user',
    'refuses the session of another user',
    'what-the-service-must-do-for-a-page',
    'a 4xx (not 401) in the answer',
    async (c) => {
      const { secondToken } = c.options;
      if (secondToken === undefined) throw new Skip('pass --second-token-file');
      await c.requireBatch();
      const response = await commit(c, [await commitEntryOf(c, await c.storedUpload())], secondToken);
      if (isRefused(response)) return pass(describe(response));
      const answers = answersOf(response);
      return judge(answers.length > 0 && answers.every(isFileRefused), describeAll(answers));
    },
  ),
  row('retry-after', 'says in seconds when to repeat', SECTION, 'no retry_after, or a number', async (c) => {
    const openResponses = [(await openPair(c)).response, (await openMixed(c)).response];
    // The service may have no commits.
    const commitResponses = await committedBatch(c).then(
      ({ responses }) => responses,
      () => [],
    );
    const responses = [...openResponses, ...commitResponses];
    const allAnswers = responses.flatMap((response) => listIn(response) ?? []);
    const values = allAnswers.map((answer) => (isFields(answer) ? answer.retry_after : undefined));
    const wrongValue = values.find(
      (value) => value !== undefined && !(typeof value === 'number' && value >= 0),
    );
    return wrongValue === undefined ? pass('none, or numbers') : fail(JSON.stringify(wrongValue));
  }),
  row(
    'most-files',
    'takes 64 files',
    SECTION,
    '64 answers with a 4xx (not 401), to sessions that do not exist',
    async (c) => {
      await c.requireBatch();
      const answers = answersOf(await commit(c, unknownFiles(MAX_FILES)));
      return judge(answers.length === MAX_FILES && answers.every(isFileRefused), `${answers.length} answers`);
    },
  ),
  row('too-many-files', 'refuses 65 files', SECTION, 'a 4xx, because limits count files', async (c) => {
    await c.requireBatch();
    return refuses(await commit(c, unknownFiles(MAX_FILES + 1)));
  }),
  row(
    'too-many-hashes',
    'refuses 101 hashes of two files',
    SECTION,
    'a 4xx, because limits count files',
    async (c) => {
      await c.requireBatch();
      const hash = (await c.dialect()).encode(c.piece(1).hash);
      const hashes = Array(MAX_HASHES / 2).fill(hash);
      const [firstFile, secondFile] = unknownFiles(2);
      return refuses(
        await commit(c, [
          { ...firstFile, hashes },
          { ...secondFile, hashes: [...hashes, hash] },
        ]),
      );
    },
  ),
  ...Object.entries({
    'no-files': { open: [] },
    'no-list': {},
    both: { open: [{}], commit: [unknownFile()] },
  }).map(([id, body]) =>
    row(id, `refuses ${JSON.stringify(body)}`, SECTION, 'a 4xx', async (c: Context) => {
      await c.requireBatch();
      return refuses(await c.call('batch', { body }));
    }),
  ),
  row(
    'bad-json',
    'refuses a body that is not JSON',
    'errors',
    'a 4xx, because a 5xx is retried',
    async (c) => {
      await c.requireBatch();
      return refuses(await c.call('batch', { body: '{"open":' }));
    },
  ),
  row('time', 'responds quickly', SECTION, 'at most 10 s', async (c) =>
    judgeTime((await openPair(c)).response),
  ),
]);

// Services with one fault in batches.

import type { Mutation } from '../support/mutant-proxy.ts';
import {
  anyToken,
  BATCH,
  CHUNKS,
  COMMIT,
  changed,
  is,
  isOk,
  type Json,
  jsonOf,
  type Mutant,
  onlyFor,
  respond,
  statuses,
} from '../support/mutations.ts';

/** Changes each answer of a batch. */
const each = (change: (answer: Json, index: number) => void): Mutation =>
  changed(BATCH, ({ answers }) => answers.forEach(change));
/** Fails a batch of this kind if one of its files is refused. */
const failsWith = (kind: 'open' | 'commit'): Mutation =>
  onlyFor(BATCH, (passing) => {
    const { answers = [] } = jsonOf(passing.response.body);
    if (!jsonOf(passing.body)[kind]) return;
    if (answers.some(({ status }: Json) => status >= 400)) respond(passing, 400);
  });

/** Answers the first commit of files in a batch with `answer` for each. */
function pendingOnce(answer: Json): Mutation {
  let isFirst = true;
  return onlyFor(BATCH, (passing) => {
    const { commit } = jsonOf(passing.body);
    if (!isFirst || !Array.isArray(commit) || !isOk(passing)) return;
    isFirst = false;
    respond(passing, 200, { answers: commit.map(() => answer) });
  });
}

/** Changes the files of each batch that opens some, before the service has them. */
const opening = (change: (files: Json[]) => void): Mutation => ({
  before: (passing) => {
    const json = jsonOf(passing.body);
    if (is(passing, BATCH) && Array.isArray(json.open)) {
      change(json.open);
      passing.body = Buffer.from(JSON.stringify(json));
    }
    return true;
  },
});
/** Names the entries of a file by their positions. */
const byPosition = (chunks: Json): Json => Object.fromEntries(Object.entries(Object.values(chunks ?? {})));
/** A service whose entries have positions instead of hashes. `change` changes the answers of its batches. */
const withPositions = (change: (answers: Json[]) => void): Mutation => ({
  after: (passing) => {
    if (!isOk(passing) || !(is(passing, CHUNKS) || is(passing, BATCH))) return;
    const json = jsonOf(passing.response.body);
    if (json.chunks) json.chunks = byPosition(json.chunks);
    for (const { body } of json.answers ?? []) if (body.chunks) body.chunks = byPosition(body.chunks);
    if (json.answers) change(json.answers);
    respond(passing, passing.response.status, json);
  },
});
/** Moves the entries of the files after a refused one. */
function moveChunks(answers: Json[]): void {
  const { body: first } = answers[0];
  const { body: last } = answers.at(-1);
  const isMixed = answers.some(({ status }) => status >= 400);
  if (isMixed && first.chunks && last.chunks) [first.chunks, last.chunks] = [last.chunks, first.chunks];
}

/** A service that commits a file in batches or alone, but answers only the first commit. */
function forgetsCommits(isForgotten: (wasInBatch: boolean) => boolean): Mutation {
  const known = new Map<string, boolean>();
  return {
    after: (passing) => {
      if (is(passing, COMMIT) && isOk(passing))
        known.set(String(passing.headers['x-service-uploadsession']), false);
      if (!is(passing, BATCH)) return;
      const { commit = [] } = jsonOf(passing.body);
      const json = jsonOf(passing.response.body);
      for (const [at, { session }] of commit.entries()) {
        const wasInBatch = known.get(session);
        if (wasInBatch !== undefined && isForgotten(wasInBatch))
          json.answers[at] = { status: 410, body: { debuginfo: 'a fault' } };
        else if (json.answers?.[at]?.status === 200) known.set(session, true);
      }
      respond(passing, passing.response.status, json);
    },
  };
}

export const BATCH_MUTANTS: readonly Mutant[] = [
  {
    fault: 'answers a batch with 207',
    check: 'batch-status',
    service: statuses(BATCH, 200, 207, { answers: [] }),
  },
  {
    fault: 'answers the files of a batch in another order',
    check: 'batch-order',
    service: changed(BATCH, ({ answers }) => answers.reverse()),
  },
  {
    fault: 'has fewer answers than files',
    check: 'batch-count',
    service: changed(BATCH, ({ answers }) => answers.pop()),
  },
  {
    fault: 'answers the files of a batch in another order, and names entries by their positions',
    check: 'batch-order',
    service: withPositions((answers) => answers.reverse()),
  },
  { fault: 'fails a batch because of one file', check: 'batch-file-error', service: failsWith('open') },
  {
    fault: 'answers files that it refuses after all others',
    check: 'batch-file-error',
    service: changed(BATCH, ({ answers }) => answers.sort((a: Json, b: Json) => a.status - b.status)),
  },
  {
    fault: 'refuses a file with 401',
    check: 'batch-file-error',
    service: each((answer) => answer.status >= 400 && Object.assign(answer, { status: 401 })),
  },
  {
    fault: 'has the chunks of another file if one is refused',
    check: 'batch-file-error',
    service: changed(BATCH, ({ answers }) => moveChunks(answers)),
  },
  {
    fault: 'has the chunks of another file if one is refused, and names entries by their positions',
    check: 'batch-file-error',
    service: withPositions(moveChunks),
  },
  {
    fault: 'gives all files of a batch the name of the first',
    check: 'batch-files',
    service: opening((files) => {
      for (const file of files) file.file_name = files[0].file_name;
    }),
  },
  {
    fault: 'gives the files of a batch the sizes of others',
    check: 'batch-files',
    service: changed(BATCH, ({ answers }) => {
      const sizes = answers.map(({ body }: Json) => body.file_size).reverse();
      for (const [at, { body }] of answers.entries()) if (body.file_size) body.file_size = sizes[at];
    }),
  },
  {
    fault: 'refuses empty files in batches',
    check: 'batch-empty',
    service: onlyFor(BATCH, (passing) => {
      const { open = [] } = jsonOf(passing.body);
      const json = jsonOf(passing.response.body);
      for (const [at, { file_size: size }] of open.entries())
        if (size === 0) json.answers[at] = { status: 422, body: { debuginfo: 'a fault' } };
      respond(passing, passing.response.status, json);
    }),
  },
  {
    fault: 'commits no empty files in batches',
    check: 'batch-empty',
    service: onlyFor(BATCH, (passing) => {
      const { commit = [] } = jsonOf(passing.body);
      const json = jsonOf(passing.response.body);
      for (const [at, { hashes }] of commit.entries())
        if (hashes?.length === 0) json.answers[at] = { status: 400, body: { debuginfo: 'a fault' } };
      respond(passing, passing.response.status, json);
    }),
  },
  {
    fault: 'fails a batch of commits because of one file',
    check: 'batch-commit-error',
    service: failsWith('commit'),
  },
  {
    fault: 'answers commits that it refuses before all others',
    check: 'batch-commit-error',
    service: changed(BATCH, ({ answers }) => answers.sort((a: Json, b: Json) => b.status - a.status)),
  },
  {
    fault: 'answers commits in another order if one is refused',
    check: 'batch-commit-error',
    service: changed(BATCH, ({ answers }) => {
      if (answers.some(({ status }: Json) => status >= 400)) answers.reverse();
    }),
  },
  {
    fault: 'has no status in the answers',
    check: 'batch-file-status',
    service: each((answer) => delete answer.status),
  },
  {
    fault: 'has no object of chunks in a batch',
    check: 'batch-chunks',
    service: each(({ body }) => body.chunks && Object.assign(body, { chunks: null })),
  },
  {
    fault: 'has the passport only in the header of single responses',
    check: 'batch-session',
    service: each(({ body }) => delete body.passport),
  },
  {
    fault: 'commits nothing in batches',
    check: 'batch-commit',
    service: each((answer) => answer.status === 200 && Object.assign(answer, { status: 409 })),
  },
  {
    fault: 'refuses a batch of commits that is repeated',
    check: 'batch-commit-again',
    service: forgetsCommits((wasInBatch) => wasInBatch),
  },
  {
    fault: 'refuses a commit in a batch after a single one',
    check: 'batch-single-commit',
    service: forgetsCommits((wasInBatch) => !wasInBatch),
  },
  {
    fault: 'has another file for a single commit after a batch',
    check: 'batch-commit-single',
    service: changed(COMMIT, (json) => Object.assign(json, { file_id: 'file_1' })),
  },
  {
    fault: 'says 200 in a batch for a file that is not complete',
    check: 'batch-commit-single',
    service: statuses(COMMIT, 200, 202, {}),
  },
  {
    fault: 'commits sessions of other users in batches',
    check: 'batch-other-user',
    service: anyToken(BATCH),
  },
  {
    fault: 'writes the seconds as a text',
    check: 'batch-retry-after',
    service: each((answer) => Object.assign(answer, { retry_after: '5' })),
  },
  {
    fault: 'writes the seconds until a commit is repeated as a text',
    check: 'batch-retry-after',
    service: pendingOnce({ status: 202, body: {}, retry_after: '1' }),
  },
  {
    fault: 'takes ten files in a batch',
    check: 'batch-most-files',
    service: onlyFor(BATCH, (passing) => {
      if (jsonOf(passing.body).commit?.length > 10) respond(passing, 413);
    }),
  },
  {
    fault: 'takes any number of files',
    check: 'batch-too-many-files',
    service: statuses(BATCH, 413, 200, { answers: [] }),
  },
  {
    fault: 'counts the hashes of each file, not of the batch',
    check: 'batch-too-many-hashes',
    service: statuses(BATCH, 413, 200, { answers: [] }),
  },
  ...['no-files', 'no-list', 'both'].map((id) => ({
    fault: `takes a batch with ${id}`,
    check: `batch-${id}`,
    service: statuses(BATCH, 400, 200, { answers: [] }),
  })),
  {
    fault: 'fails for a batch that is not JSON',
    check: 'batch-bad-json',
    service: statuses(BATCH, 400, 500),
  },
  { fault: 'needs no token for a batch', check: 'auth-missing-batch', service: anyToken(BATCH) },
];

/** Services that are right, and differ from the reference service. */
export const OTHER_BATCHES: readonly { readonly difference: string; readonly service: Mutation }[] = [
  {
    difference: 'opens files with 200',
    service: each((answer) => answer.status === 201 && Object.assign(answer, { status: 200 })),
  },
  { difference: 'leaves all chunks out', service: each(({ body }) => delete body.chunks) },
  {
    difference: 'leaves the chunks of the first file out',
    service: each(({ body }, at) => at === 0 && delete body.chunks),
  },
  { difference: 'names entries by their positions', service: withPositions(() => undefined) },
  {
    difference: 'refuses a batch that has a session twice',
    service: onlyFor(BATCH, (passing) => {
      const { commit = [] } = jsonOf(passing.body);
      const sessions = commit.map?.(({ session }: Json) => session) ?? [];
      if (new Set(sessions).size < sessions.length) respond(passing, 400);
    }),
  },
  {
    difference: 'has neither names nor sizes in the responses to commits',
    service: {
      after: (passing) => {
        if (!isOk(passing) || !(is(passing, COMMIT) || is(passing, BATCH))) return;
        const json = jsonOf(passing.response.body);
        for (const body of [json, ...(json.answers ?? []).map((answer: Json) => answer.body)])
          for (const name of ['file_name', 'file_size']) delete body[name];
        respond(passing, passing.response.status, json);
      },
    },
  },
];

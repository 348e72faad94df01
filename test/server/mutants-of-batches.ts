// Services with one fault in batches.

import type { Mutation } from '../support/mutant-proxy.ts';
import {
  anyToken,
  BATCH,
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
  { fault: 'fails a batch because of one file', check: 'batch-file-error', service: failsWith('open') },
  {
    fault: 'fails a batch of commits because of one file',
    check: 'batch-commit-error',
    service: failsWith('commit'),
  },
  {
    fault: 'has no status in the answers',
    check: 'batch-file-status',
    service: each((answer) => delete answer.status),
  },
  {
    fault: 'presigns no chunks in a batch',
    check: 'batch-chunks',
    service: each(({ body }) => delete body.chunks),
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

// What a run tells, in the numbers of its row.

import { expect } from '@open-wc/testing';
import type { StoredChunk } from '../../src/core/types.ts';
import { Progress } from '../../src/engine/progress.ts';
import type { Row } from '../../src/engine/row.ts';
import type { Shared } from '../../src/engine/shared.ts';
import { tellRun } from '../../src/engine/tell-run.ts';
import { plan } from '../../src/pipeline/plan.ts';

describe('a row', () => {
  it('has no more in sight than what it has to send: what is only checked leaves the lanes to others', () => {
    const row = {
      id: 'a',
      unsentCount: 10,
      progress: new Progress(1000),
      connection: { auth: { snapshot: { state: 'signed-in', mode: 'token', required: false } } },
      tellProgress: () => undefined,
      moveTo: () => undefined,
    } as unknown as Row;
    const shared = { lanes: { onStored: () => undefined }, report: () => undefined, touch: () => undefined };
    const told = tellRun(row, shared as unknown as Shared);
    const claim = { hash: 'h', receipt: 'r' };
    const stored = new Map(Array.from({ length: 8 }, (_, index) => [index, claim]));
    const chunks = plan(1000, 100, stored) as StoredChunk[];
    told.onOpened(chunks);
    expect(row.unsentCount).to.equal(2);
    for (const chunk of chunks) told.onStored(chunk);
    expect(row.unsentCount).to.equal(0);
  });
});

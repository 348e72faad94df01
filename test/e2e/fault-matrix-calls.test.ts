// The columns `session`, `presign` and `commit` of docs/faults.md: each fault has the documented outcome.
import { after, before } from 'node:test';
import { testColumn } from './support/fault-column.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;

before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

for (const column of ['session', 'presign', 'commit'] as const) testColumn(column, () => world);

// The calls to the service with every fault of docs/faults.md, in a real browser against the real service.
import { after, before } from 'node:test';
import { testColumn } from './support/fault-column.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;

before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

for (const column of ['session', 'presign', 'commit'] as const) testColumn(column, () => world);

// A journey, because it needs the service in the process of the test, and two pages with different deadlines.
// The columns `session`, `presign` and `commit` of docs/faults.md: each fault has the documented outcome.
import { testColumn } from './support/fault-column.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();

for (const column of ['session', 'presign', 'commit'] as const) testColumn(column, () => world);

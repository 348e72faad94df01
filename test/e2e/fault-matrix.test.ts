// Tests the column `PUT` of docs/faults.md, and that the table is complete.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testColumn } from './support/fault-column.ts';
import { everyCell, readFaultTable } from './support/fault-table.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;

before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

test('the table has every fault at every operation where it can occur', () => {
  const cells = readFaultTable();
  assert.deepEqual(
    cells.map(({ fault, column, mode }) => `${fault}, ${column}, ${mode}`).sort(),
    everyCell(cells),
  );
});

testColumn('PUT', () => world);

// A journey, because only the log of the service, in the process of the test, tells what the browser repeats by itself.
// Tests the column `PUT` of docs/faults.md, and that the table is complete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testColumn } from './support/fault-column.ts';
import { everyCell, readFaultTable } from './support/fault-table.ts';
import { createWorld } from './support/world.ts';

const world = await createWorld();

test('the table has every fault at every operation where it can occur', () => {
  const cells = readFaultTable();
  assert.deepEqual(
    cells.map(({ fault, column, mode }) => `${fault}, ${column}, ${mode}`).sort(),
    everyCell(cells),
  );
});

testColumn('PUT', () => world);

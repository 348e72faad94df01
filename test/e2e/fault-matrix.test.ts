// Every operation meets every fault of docs/faults.md, in a real browser against the real service: what is written there is what
// happens, and in the end every file lies on the service byte for byte.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runCells } from './support/fault-cells.ts';
import { type Column, everyCell, readFaultTable } from './support/fault-table.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
const cells = readFaultTable();

before(async () => {
  world = await createWorld({ fsync: false });
});
after(() => world.close());

test('the table has every fault at every operation that can meet it', () => {
  assert.deepEqual(
    cells.map(({ fault, column, mode }) => `${fault}, ${column}, ${mode}`).sort(),
    everyCell(cells),
  );
});

for (const column of ['session', 'presign', 'PUT', 'commit'] as const satisfies Column[]) {
  test(`${column}: the table says what becomes of a file`, async (t) => {
    const mine = cells.filter((cell) => cell.column === column && cell.fault !== 'offline for a while');
    const outcomes = await runCells(world, mine);
    for (const [{ fault, mode, expected }, { became, requestCount }] of outcomes) {
      await t.test(`${column}, ${fault}, ${mode}: ${expected}`, () => {
        assert.equal(became, expected);
        // Refused input is never sent again as it is.
        if (expected === 'failed: upload-refused' && column !== 'PUT' && mode === 'once')
          assert.equal(requestCount, 1);
      });
    }
  });
}

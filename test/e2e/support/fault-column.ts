// Tests one column of the fault table: every fault has the documented outcome.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCells } from './fault-cells.ts';
import { type Column, readFaultTable } from './fault-table.ts';
import type { World } from './world.ts';

/** Declares the test of `column`, with one subtest for each cell. */
export function testColumn(column: Exclude<Column, 'token'>, worldOf: () => World): void {
  test(`${column}: the table has the outcome of a file`, async (t) => {
    const mine = readFaultTable().filter(
      (cell) => cell.column === column && cell.fault !== 'offline for a while',
    );
    const { outcomes, tokenCalls, tokenCount } = await runCells(worldOf(), mine);
    assert.equal(tokenCalls, tokenCount, 'each token that the page gave was used');
    for (const [{ fault, mode, expected }, { became, requestCount, tokenCount }] of outcomes) {
      await t.test(`${column}, ${fault}, ${mode}: ${expected}`, () => {
        assert.equal(became, expected);
        // The widget must not repeat a request that the service refused as invalid.
        if (expected === 'failed: upload-refused' && column !== 'PUT' && mode === 'once')
          assert.equal(requestCount, 1);
        if (expected === 'failed: token-rejected') assert.ok(tokenCount >= 2, 'a new token was refused too');
      });
    }
  });
}

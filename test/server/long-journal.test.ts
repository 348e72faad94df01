// A journal of the service that is longer than a string can be (540 MB).
import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openState } from '../../demo/server/state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a journal that is longer than a string can be is read', async () => {
  const folder = temporaryFolder();
  const text = 'x'.repeat(2 ** 20);
  const file = await open(join(folder, 'state.jsonl'), 'w');
  for (let count = 0; count <= 512; count += 1) {
    await file.write(`\n${JSON.stringify(['long', 'a', { count, text }])}`);
  }
  await file.close();
  const state = await openState({ dataDir: folder, now: () => 0, fsync: true });
  const row = await state.table<{ count: number; keepUntil?: number }>('long').get('a');
  assert.equal(row?.count, 512);
  await state.close();
});

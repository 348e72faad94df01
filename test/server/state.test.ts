// What the service stores across restarts and crashes.
import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startService } from '../../demo/server/server.ts';
import { openState, type Row, type State } from '../../demo/server/state.ts';

interface Count extends Row {
  count: number;
}

let dataDir: string;
let now = 1000;
const open = (): Promise<State> => openState({ dataDir, now: () => now, fsync: true });
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'state-'));
});
after(() => rm(dataDir, { recursive: true, force: true }));

test('rows are restored after a restart, in their last form', async () => {
  let state = await open();
  const rows = state.table<Count>('rows');
  await rows.put('a', { count: 1 });
  await rows.put('b', { count: 2 });
  await rows.update('a', (row) => ({ count: (row?.count ?? 0) + 10 }));
  await rows.take('b');
  await state.close();
  state = await open();
  const again = state.table<Count>('rows');
  assert.deepEqual(await again.get('a'), { count: 11 });
  assert.equal(await again.get('b'), undefined);
  assert.deepEqual(await again.list(), [{ count: 11 }]);
  await state.close();
});

test('many changes of one row at once all count, and one caller gets it', async () => {
  const state = await open();
  const rows = state.table<Count>('race');
  const add = (): Promise<unknown> => rows.update('x', (row) => ({ count: (row?.count ?? 0) + 1 }));
  await Promise.all(Array.from({ length: 200 }, add));
  assert.deepEqual(await rows.get('x'), { count: 200 });
  const taken = await Promise.all([rows.take('x'), rows.take('x'), rows.take('x')]);
  assert.equal(taken.filter((row) => row !== undefined).length, 1);
  await state.close();
});

test('a line that a crash cut off is dropped, and the rest is kept', async () => {
  let state = await open();
  await state.table<Count>('crash').put('a', { count: 1 });
  await state.close();
  await appendFile(join(dataDir, 'state.jsonl'), '\n["crash","b",{"cou');
  state = await open();
  const rows = state.table<Count>('crash');
  assert.deepEqual(await rows.get('a'), { count: 1 });
  assert.equal(await rows.get('b'), undefined);
  await rows.put('c', { count: 3 });
  await state.close();
  state = await open();
  assert.deepEqual(await state.table<Count>('crash').get('c'), { count: 3 });
  await state.close();
});

test('a line that was cut off while the service continued breaks no other line', async () => {
  let state = await open();
  const rows = state.table<Count>('full-disk');
  await rows.put('a', { count: 1 });
  await appendFile(join(dataDir, 'state.jsonl'), '\n["full-disk","b",{"cou');
  await rows.put('c', { count: 3 });
  await state.close();
  state = await open();
  const again = state.table<Count>('full-disk');
  assert.deepEqual(await again.list(), [{ count: 1 }, { count: 3 }]);
  await state.close();
});

test('the journal is rewritten while the service runs, and no row is lost', async () => {
  let state = await open();
  const rows = state.table<Count & { text: string }>('many');
  const text = 'x'.repeat(100_000);
  const path = join(dataDir, 'state.jsonl');
  let largest = 0;
  for (let round = 0; round < 30; round += 1) {
    const writes = Array.from({ length: 10 }, (_, key) => rows.put(String(key), { count: round, text }));
    await Promise.all(writes);
    largest = Math.max(largest, (await stat(path)).size);
  }
  assert.ok(largest < 15_000_000, `30 MB were written, the journal had at most ${largest} bytes`);
  await state.close();
  state = await open();
  const again = await state.table<Count>('many').list();
  assert.deepEqual(
    again.map(({ count }) => count),
    Array<number>(10).fill(29),
  );
  await state.close();
});

test('a journal that cannot be rewritten, for example with a full disk, fails no write and loses no row', async () => {
  let state = await open();
  const rows = state.table<Count & { text: string }>('full');
  // Writing to a folder fails.
  const rewritten = join(dataDir, 'state.jsonl.new');
  await mkdir(rewritten);
  const text = 'x'.repeat(1_000_000);
  for (let count = 0; count < 20; count += 1) await rows.put('a', { count, text });
  await rmdir(rewritten);
  await rows.put('b', { count: 1, text });
  await state.close();
  state = await open();
  const again = await state.table<Count>('full').list();
  assert.deepEqual(
    again.map(({ count }) => count),
    [19, 1],
  );
  await state.close();
});

test('expired rows are deleted from the disk after a restart', async () => {
  let state = await open();
  await state.table<Count>('old').put('a', { count: 77_777, keepUntil: now + 10 });
  await state.close();
  now += 20;
  state = await open();
  await state.close();
  assert.ok(!(await readFile(join(dataDir, 'state.jsonl'), 'utf8')).includes('77777'));
});

test('two services cannot use one folder at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'service-'));
  const first = await startService({ dataDir: folder, appOrigins: [] });
  await assert.rejects(startService({ dataDir: folder, appOrigins: [] }), /in use/);
  await first.close();
  const second = await startService({ dataDir: folder, appOrigins: [] });
  await second.close();
  await rm(folder, { recursive: true, force: true });
});

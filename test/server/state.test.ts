// What the service stores across restarts and crashes.
import assert from 'node:assert/strict';
import { appendFile, mkdir, readFile, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { startService } from '../../demo/server/server.ts';
import { openState, type Row, type State } from '../../demo/server/state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { actAs, fillDisk, randomChunks, startRig, upload } from './support.ts';

interface Count extends Row {
  count: number;
}

const dataDir = temporaryFolder();
let now = 1000;
const open = (): Promise<State> => openState({ dataDir, now: () => now, fsync: true });

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

test('a journal that cannot be rewritten, for example with a full disk, is reported, fails no write and loses no row', async () => {
  let state = await open();
  const rows = state.table<Count & { text: string }>('full');
  // Writing to a folder fails.
  const rewritten = join(dataDir, 'state.jsonl.new');
  await mkdir(rewritten);
  const text = 'x'.repeat(1_000_000);
  const report = mock.method(console, 'error', () => undefined);
  for (let count = 0; count < 20; count += 1) await rows.put('a', { count, text });
  report.mock.restore();
  assert.match(String(report.mock.calls[0]?.arguments[0]), /state\.jsonl cannot be compacted/);
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

test('rows are found by the value of an indexed field, after changes and a restart', async () => {
  interface Owned extends Row {
    owner: string;
    name: string;
  }
  let state = await open();
  let rows = state.table<Owned>('owned', ['owner']);
  await rows.put('1', { owner: 'ann', name: 'a' });
  await rows.put('2', { owner: 'bob', name: 'b' });
  await rows.put('3', { owner: 'ann', name: 'c', keepUntil: now + 10 });
  await rows.put('2', { owner: 'ann', name: 'b' });
  await rows.take('1');
  const names = async (owner: string): Promise<string[]> =>
    (await rows.listBy('owner', owner)).map(({ name }) => name).sort();
  assert.deepEqual(await names('ann'), ['b', 'c']);
  assert.deepEqual(await names('bob'), []);
  await state.close();
  now += 20;
  state = await open();
  rows = state.table<Owned>('owned', ['owner']);
  assert.deepEqual(await names('ann'), ['b']);
  await state.close();
});

test('of several rows with the same unique values, one is added', async () => {
  interface Named extends Row {
    folder: string;
    name: string;
  }
  const state = await open();
  const rows = state.table<Named>('named', ['name']);
  const add = (key: string, folder: string): Promise<Named | undefined> =>
    rows.add(key, { folder, name: 'a' }, ['name', 'folder']);
  const added = await Promise.all([add('1', 'x'), add('2', 'x'), add('3', 'y')]);
  assert.deepEqual(
    added.map((row) => row?.folder),
    ['x', undefined, 'y'],
  );
  assert.deepEqual(await add('1', 'z'), { folder: 'x', name: 'a' }, 'the key exists');
  await state.close();
});

test('a row with any line separator in its text is restored', async () => {
  let state = await open();
  const text = 'a\u2028b\u2029c\r\nd\u0085e';
  await state.table<Row & { text: string }>('lines').put('a', { text });
  await state.close();
  state = await open();
  assert.deepEqual(await state.table<Row & { text: string }>('lines').get('a'), { text });
  await state.close();
});

test('a change that could not be written is undone, and later changes are not', async () => {
  let state = await open();
  const rows = state.table<Count>('undone');
  await rows.put('a', { count: 1 });
  const empty = await fillDisk();
  await assert.rejects(rows.put('a', { count: 2 }), /no space/);
  await assert.rejects(rows.take('a'), /no space/);
  await assert.rejects(rows.put('b', { count: 1 }), /no space/);
  const both = [rows.put('a', { count: 3 }), rows.put('a', { count: 4 })];
  for (const { status } of await Promise.allSettled(both)) assert.equal(status, 'rejected');
  empty();
  assert.deepEqual(await rows.list(), [{ count: 1 }]);
  await rows.put('a', { count: 5 });
  await state.close();
  state = await open();
  assert.deepEqual(await state.table<Count>('undone').list(), [{ count: 5 }]);
  await state.close();
});

test('a name is free if the file that took it could not be written', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const alice = await actAs(rig.service, 'alice');
  const [chunk = new Uint8Array()] = randomChunks(10);
  const file = { name: 'unique.bin', folder: 'folder-unique' };
  const empty = await fillDisk('ENOSPC', (text) => text.includes('["files"'));
  assert.equal((await upload(alice, [chunk], file)).status, 507);
  empty();
  assert.equal((await upload(alice, [chunk], file)).status, 200);
  assert.equal((await alice.open({ ...file, size: 1 })).status, 409);
});

test('two services cannot use one folder at the same time', async () => {
  const folder = temporaryFolder();
  const first = await startService({ dataDir: folder, appOrigins: [] });
  await assert.rejects(
    startService({ dataDir: folder, appOrigins: [] }),
    /in use by process \d+ .*npm start.*--data/,
  );
  await first.close();
  const second = await startService({ dataDir: folder, appOrigins: [] });
  await second.close();
});

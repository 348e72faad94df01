// What is deleted when an upload has ended without a file.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, MIB, put, SESSION } from './support/hostile.ts';
import { startStack } from './support/stack.ts';

test('a canceled upload leaves no object, also if its file was assembled', async (t) => {
  const { store, database, processes, stop } = await startStack({}, 1);
  t.after(stop);
  const client = new Client('user-one', processes[0]?.baseUrl ?? '', new Set());
  const bytes = [randomBytes(5 * MIB), randomBytes(9)];
  const session = await client.open(5 * MIB + 9, 'a.scan');
  const chunks = await client.presign(session, ...bytes);
  for (const chunk of chunks) assert.equal((await put(chunk)).status, 200);
  assert.equal((await client.commit(session, chunks)).status, 503);
  assert.equal((await store.list('files/u-user-one/')).size, 1);
  assert.equal(await client.statusOf(SESSION, undefined, session, { method: 'DELETE' }), 204);
  await database.query("update upload_sessions set expires_at = now() - interval '1 h', lease_until = now()");
  while ((await database.query('select count(*) from upload_sessions')) !== '0') await sleep(100);
  assert.deepEqual([...(await store.list(''))], []);
});

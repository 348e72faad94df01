// What an upload costs: the table of docs/operating.md is measured, with the requests of the service itself counted in its process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInExample } from '../support/service-s3.ts';
import { replace, startStack } from './support/stack.ts';

/** Uploads one file through `handle`, and prints what was counted. Chunks go to the store without being counted. */
const SCRIPT = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
const counts = { requests: 0, statements: 0, calls: 0, bytes: 0 };
const { query } = pg.Client.prototype;
// Without the questions of the background work, the limits of each transaction, and the renewal of leases, whose number depends on
// the time.
pg.Client.prototype.query = function (...args) {
  if (!/skip locked|sessions set due_at|^(begin|commit)/.test(args[0].text ?? args[0])) counts.statements += 1;
  return query.apply(this, args);
};
const put = globalThis.fetch;
globalThis.fetch = (...args) => { counts.calls += 1; return put(...args); };
const { handle, started, close } = await import('./service.ts');
console.log = () => undefined;
await started();
await sleep(300);
async function ask(method, path, body, session = '') {
  const text = body ? JSON.stringify(body) : undefined;
  const headers = { authorization: 'Bearer user-one', 'x-service-uploadsession': session };
  const answer = await handle(new Request('http://service.invalid/files/uploadsession' + path, { method, headers, body: text }));
  const said = await answer.text();
  counts.requests += 1;
  counts.bytes += (text ?? '').length + said.length;
  return JSON.parse(said);
}
const count = Number(process.env.CHUNKS);
const chunk = (index) => Buffer.alloc(count > 1 ? 8 * 2 ** 20 : 1000, 'chunk ' + index);
const hashes = Array.from({ length: count }, (_, index) => createHash('sha256').update(chunk(index)).digest('hex'));
const sizes = hashes.map((_, index) => chunk(index).length);
const file_size = sizes.reduce((sum, size) => sum + size);
Object.assign(counts, { requests: 0, statements: 0, calls: 0, bytes: 0 });
const { session_id: session } = await ask('POST', '', { parent_id: 'folder-a', file_name: 'a.bin', file_size });
const { chunks } = await ask('POST', '/chunks', { hashes, sizes }, session);
for (const [index, hash] of hashes.entries()) {
  const { upload_url, headers } = chunks[hash];
  const { ok } = await put(upload_url, { method: 'PUT', headers, body: chunk(index) });
  if (!ok) throw new Error('put');
}
const receipts = hashes.map((hash) => chunks[hash].receipt);
const { file_id } = await ask('POST', '/commit', { hashes, receipts }, session);
if (!file_id) throw new Error('commit');
// The report belongs to the upload.
while (!readFileSync(process.env.REPORTS, 'utf8').includes(file_id)) await sleep(10);
await close();
process.stdout.write(JSON.stringify(counts));
`;

test('an upload costs what docs/operating.md says', async (t) => {
  const stack = await startStack({ FAILING_REPORTS: '0' }, 0);
  t.after(() => stack.stop());
  // The store copies 800 MiB on this machine: a commit that is answered with 202 and repeated would be counted twice.
  replace(join(stack.folder, 'uploads.ts'), 'COMMIT_MS = 20_000', 'COMMIT_MS = 300_000');
  const measured: Record<string, number>[] = [];
  for (const CHUNKS of ['1', '100']) {
    const child = runInExample(
      ['--input-type=module', '--eval', SCRIPT],
      { ...stack.settings, CHUNKS },
      stack.folder,
    );
    let said = '';
    let complaint = '';
    child.stdout?.on('data', (text) => (said += text));
    child.stderr?.on('data', (text) => (complaint += text));
    const [status] = await once(child, 'close');
    assert.equal(status, 0, complaint);
    measured.push(JSON.parse(said) as Record<string, number>);
  }
  t.diagnostic(JSON.stringify(measured));
  const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const rowOf = (name: string): number[] =>
    (new RegExp(`\\| ${name} \\| ([^|]+) \\| ([^|]+) \\|`).exec(text) ?? [])
      .slice(1)
      .map((cell) => Number.parseInt(cell, 10));
  const [, questions = ''] = /```sql\n(.*?)```/s.exec(text) ?? [];
  assert.match(await stack.database.query(questions), /^0\|/m, 'the questions of the document are answered');
  assert.deepEqual(
    rowOf('Requests to the service'),
    measured.map(({ requests }) => requests),
  );
  assert.deepEqual(
    rowOf('Requests of the service to the store'),
    measured.map(({ calls }) => calls),
  );
  assert.deepEqual(
    rowOf('Bytes through the service'),
    measured.map(({ bytes = 0 }) => Math.ceil(bytes / 1000)),
  );
  assert.deepEqual(
    rowOf('SQL statements'),
    measured.map(({ statements }) => statements),
  );
});

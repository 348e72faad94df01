// What processes of the example do beside requests: reports, deletions, and their end.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { type Client as Uploader, upload } from './support/client.ts';
import { Client, COMMIT, MIB, put, SESSION } from './support/hostile.ts';
import { type Stack, startStack } from './support/stack.ts';

describe('The example for S3, beside its requests', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ FAILING_REPORTS: '0' }, 1);
  });
  after(() => stack.stop());
  const baseUrl = (): string => stack.processes[0]?.baseUrl ?? '';
  const clientOf = (user: string): Client => new Client(user, baseUrl(), new Set());
  /** Opens a session for a small file, and stores its chunk. */
  async function begin(user: string, name = 'a.bin') {
    const client = clientOf(user);
    const session = await client.open(9, name);
    const chunks = await client.presign(session, randomBytes(9));
    for (const chunk of chunks) assert.equal((await put(chunk)).status, 200);
    const proof = {
      hashes: chunks.map(({ hash }) => hash),
      receipts: chunks.map(({ ticket }) => ticket.receipt),
    };
    return { client, session, proof, commit: () => client.commit(session, chunks) };
  }
  const query = (sql: string): Promise<string> => stack.database.query(sql);
  const stateOf = (session: string): Promise<string> =>
    query(`select state from upload_sessions where id = '${session}'`);
  const uploaderOf = (user: string): Uploader => ({ user, baseUrl });

  test('a canceled upload leaves no object, also if its file was assembled', async () => {
    const client = clientOf('user-cancels');
    const bytes = [randomBytes(5 * MIB), randomBytes(9)];
    const session = await client.open(5 * MIB + 9, 'a.scan');
    const chunks = await client.presign(session, ...bytes);
    for (const chunk of chunks) assert.equal((await put(chunk)).status, 200);
    assert.equal((await client.commit(session, chunks)).status, 503);
    assert.equal(await client.statusOf(SESSION, undefined, session, { method: 'DELETE' }), 204);
    // A process that was killed could have left this one.
    const id = await query(`select file_id from upload_sessions where id = '${session}'`);
    assert.equal((await stack.store.ask(`/files/u-user-cancels/${id}-left`, 'PUT')).status, 200);
    assert.equal((await stack.store.ask(`/files/u-user-cancels/${id}-left?uploads`, 'POST')).status, 200);
    await stack.clear('user-cancels');
    assert.deepEqual([...(await stack.store.list(''))], []);
    assert.doesNotMatch(await (await stack.store.ask('?uploads')).text(), /<UploadId>/);
  });

  test('a commit is answered again days later, when the chunks are deleted', async () => {
    const { client, session, commit } = await begin('user-late');
    const { text, body } = await commit();
    await stack.reports(1, 'user-late');
    const key = await stack.store.keyOfFile('user-late', body.file_id);
    const move = "set expires_at = expires_at - interval '5 d', due_at = due_at - interval '5 d'";
    await query(`update upload_sessions ${move} where id = '${session}'`);
    await until(async () => (await stack.store.list('chunks/u-user-late/')).size === 0);
    assert.equal((await commit()).text, text);
    const [{ ticket } = { ticket: undefined }] = await client.presign(session, randomBytes(9));
    assert.equal(ticket?.upload_url, null, 'a finished file takes no bytes');
    await stack.clear('user-late');
    assert.equal((await commit()).status, 404);
    assert.deepEqual([...(await stack.store.list('files/u-user-late/')).keys()], [key]);
  });

  test('a process assembles 32 files at once, and leaves the others to the background or a repeated commit', async () => {
    const many = await Promise.all(
      Array.from({ length: 60 }, (_, index) => begin(`user-busy${index % 15}`, 'a.slow')),
    );
    const isOpen = `exists (select from upload_sessions where user_id like 'user-busy%' and state = 'open')`;
    const answers = await Promise.all(many.map(({ commit }) => commit()));
    const waiting = answers.filter(({ status }) => status === 202);
    assert.equal(waiting.length, 28);
    for (const { retryAfter } of waiting) assert.equal(retryAfter, '2');
    assert.equal(await query(`select ${isOpen}`), 'f', 'what was answered with 202 is known');
    for (const { commit } of many)
      for (let status = 202; status !== 200; await sleep(100)) {
        ({ status } = await commit());
        assert.match(`${status}`, /^20[02]$/);
      }
  });

  for (const [finisher, keyEnd] of [
    ['the one', 'digest'],
    // Its attempts have keys of their own.
    ['a process of the first release', `'another'`],
  ] as const)
    test(`an attempt that is late leaves the file to ${finisher} that has finished it`, async () => {
      const user = `user-overtaken${finisher.length}`;
      const { session, commit } = await begin(user, 'a.slow');
      const committed = commit();
      await until(async () => (await stateOf(session)) === 'committing');
      const id = await query(`select file_id from upload_sessions where id = '${session}'`);
      await stack.store.ask(`/files/u-${user}/${id}-another`, 'PUT');
      const done = `state = 'done', holder = '', attempt = ${keyEnd}, due_at = now()`;
      await query(`update upload_sessions set ${done} where id = '${session}'`);
      const digest = await query(`select digest from upload_sessions where id = '${session}'`);
      await committed;
      const key = `files/u-${user}/${id}-${keyEnd === 'digest' ? digest : 'another'}`;
      assert.equal((await stack.reports(1, user))[0]?.key, key);
      await stack.clear(user);
      assert.deepEqual([...(await stack.store.list(`files/u-${user}/`)).keys()], [key]);
    });

  test('reports that never end or fail do not stop the others', { timeout: 60_000 }, async () => {
    for (let count = 0; count < 4; count += 1) await upload(uploaderOf('user-hangs'), 'a.hang', [1000]);
    await Promise.all(Array.from({ length: 40 }, () => upload(uploaderOf('user-fails'), 'a.fail', [1000])));
    await stack.reports(40, 'user-fails');
    const reportCount = (await stack.reports(0, 'user-fails')).length;
    await upload(uploaderOf('user-next'), 'a.bin', [1000]);
    await stack.reports(1, 'user-next');
    const repeated = (await stack.reports(0, 'user-fails')).length - reportCount;
    assert.ok(repeated <= 40, `${repeated} failing reports before the next one`);
  });

  test('a signal ends a process when it has answered its requests, also if a proxy keeps its connection', async () => {
    const { session, proof } = await begin('user-ends', 'a.slow');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string, method = 'GET', body = ''): Promise<number> =>
      new Promise((resolve) => {
        const type = 'application/json';
        const headers = {
          authorization: 'Bearer user-ends',
          'x-service-uploadsession': session,
          'content-type': type,
        };
        request(baseUrl() + path, { agent, method, headers }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode ?? 0));
        })
          .once('error', () => resolve(0))
          .end(body);
      });
    const committed = ask(COMMIT, 'POST', JSON.stringify(proof));
    await until(async () => (await stateOf(session)) === 'committing');
    const code = stack.processes[0]?.stop('SIGTERM');
    assert.equal(await committed, 200);
    // Over the same connection.
    await until(async () => (await ask('/healthz')) !== 200);
    assert.equal(await code, 0);
  });
});

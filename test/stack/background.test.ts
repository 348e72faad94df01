// What processes of the example do beside requests: reports, deletions, and their end.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { type Client as Uploader, upload } from './support/client.ts';
import { Client, COMMIT, MIB, put, SESSION } from './support/hostile.ts';
import { type Stack, startStack } from './support/stack.ts';

/** A statement of docs/operating.md. */
function figure(number: number): string {
  const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const sql = /```sql\n(.*?)```/s.exec(text)?.[1] ?? '';
  return new RegExp(`-- ${number}\\. .*?;`, 's').exec(sql)?.[0] ?? assert.fail(`no figure ${number}`);
}

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

  /** Resolves when a figure shows what is late for longer than three leases and a pause, which an attempt in time never is. */
  const shows = (number: 1 | 2, pattern: RegExp): Promise<string> =>
    until(async () => {
      const line = (await query(figure(number))).split('\n').find((each) => pattern.test(each)) ?? '';
      const [hours, minutes, seconds] = (line.split('|').at(-1) ?? '').split(':').map(Number);
      return (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0) > 12 && line;
    });
  const deny = (Action: string, path: string): Promise<Response> => {
    const Principal = { AWS: ['arn:aws:iam:::user/demo'] };
    const statement = { Effect: 'Deny', Principal, Action, Resource: `arn:aws:s3:::uploads/${path}` };
    return stack.store.ask(
      '?policy',
      'PUT',
      JSON.stringify({ Version: '2012-10-17', Statement: [statement] }),
    );
  };
  const linesWith = (text: string): Record<string, unknown>[] =>
    (stack.processes[0]?.output() ?? '')
      .split('\n')
      .filter((line) => line.includes(text))
      .map((line) => JSON.parse(line));

  test('a figure shows a report that always fails, and the log names the hook', {
    timeout: 60_000,
  }, async () => {
    await query(`delete from upload_sessions`);
    await upload(uploaderOf('user-never'), 'a.fail', [1000]);
    assert.match(await shows(1, /^done\|/), /^done\|1\|/);
    const { part, call, at } = linesWith('onCompleted')[0] ?? {};
    assert.deepEqual([part, call], ['hook', 'onCompleted']);
    assert.match(`${at}`, /^hooks\.ts:\d+$/);
  });

  test('a figure shows a commit that the store always refuses, until it succeeds', {
    timeout: 120_000,
  }, async () => {
    await query(`delete from upload_sessions`);
    assert.ok((await deny('s3:PutObject', 'files/*')).ok);
    const { commit } = await begin('user-refused');
    const { status, text } = await commit();
    assert.equal(status, 503);
    assert.match(text, /refuses/);
    assert.match(await shows(1, /^committing\|/), /^committing\|1\|/);
    const { part, call, message } = linesWith('CopyObject')[0] ?? {};
    assert.deepEqual([part, call], ['store', 'CopyObject files/']);
    assert.equal(message, 'CopyObject files/: the store responded with 403 AccessDenied');
    assert.ok((await stack.store.ask('?policy', 'DELETE')).ok);
    await stack.reports(1, 'user-refused');
    await until(async () => !(await query(figure(1))).includes('committing'));
  });

  test('a figure shows a deletion that the store always refuses, until it succeeds', {
    timeout: 120_000,
  }, async () => {
    await query(`delete from upload_sessions`);
    assert.ok((await deny('s3:DeleteObject', 'chunks/*')).ok);
    const { client, session } = await begin('user-stays');
    assert.equal(await client.statusOf(SESSION, undefined, session, { method: 'DELETE' }), 204);
    assert.match(await query(figure(2)), /^0\|/, 'its URLs are still valid');
    await query(`update upload_sessions set due_at = now() where id = '${session}'`);
    assert.match(await shows(2, /^1\|/), /^1\|/);
    assert.equal(linesWith('DeleteObject')[0]?.call, 'DeleteObject chunks/');
    assert.ok((await stack.store.ask('?policy', 'DELETE')).ok);
    await until(async () => (await stack.store.list('chunks/u-user-stays/')).size === 0);
    await until(async () => (await query(figure(2))).startsWith('0|'));
  });

  test('a figure shows who blocks whom, to a role that may see the sessions of others', async () => {
    await query('create role watcher; grant pg_monitor to watcher; create table held (at int)');
    const ended = assert.rejects(query('begin; lock table held; select pg_sleep(600)'));
    const isHeld = `select exists (select from pg_locks where relation = 'held'::regclass)`;
    await until(async () => (await query(isHeld)) === 't');
    const waiting = query('select from held');
    const line = await until(async () => {
      const said = await query(`set role watcher; ${figure(4)}`);
      return /\{\d+\}/.test(said) && said;
    });
    const [active, locked, longest, blockers] = line.split('|');
    assert.ok(Number(active) >= 3 && Number(locked) === 1 && longest, line);
    await query(`select pg_terminate_backend(${blockers?.slice(1, -1)})`);
    await Promise.all([ended, waiting]);
  });

  test('a figure counts failed commits, and all lines of the log are JSON', async () => {
    const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const program = /```sh\njq -s '([^']+)' minute\.log/.exec(text)?.[1] ?? assert.fail('no figure 5');
    const count = (log: string): Record<string, number> =>
      JSON.parse(execFileSync('jq', ['-s', program], { input: log, encoding: 'utf8' }));
    const log = stack.processes[0]?.output() ?? '';
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ ms }) => ms !== undefined);
    const failed = requests.filter(({ status }) => status >= 500);
    assert.ok(failed.some(({ operation }) => operation === 'commit'));
    assert.deepEqual([count(log).count, count(log).failed], [requests.length, failed.length]);
    const slow = [1, 2, 3].map((ms) => ({ ms, status: 200, operation: 'open' }));
    const all = [...slow, { ms: 9000, status: 503, operation: 'commit' }, { level: 'info', url: 'http://a' }];
    const said = count(all.map((line) => JSON.stringify(line)).join('\n'));
    assert.deepEqual(said, { count: 4, failed: 1, slow_ms: 3 });
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

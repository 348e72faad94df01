// Turns of the users in the work of the example service for S3 that no request waits for: commits above the limits, scans, reports.
// In memory, with a store that has all chunks.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Session, Sessions } from '../../demo/examples/service-s3/sessions.ts';
import { copyExample, SETTINGS } from '../support/service-s3.ts';
import { openOne, sessionOf } from '../support/session-steps.ts';
import { until } from '../support/until.ts';

/** Both hooks are those of the test. */
const HOOKS = `export const authorize = () => 401;
export const refuse = (file) => globalThis.hooksOfTurns.refuse(file);
export const onCompleted = (file) => globalThis.hooksOfTurns.onCompleted(file);`;
const HASH = 'a'.repeat(64);
const SIZE = 6_000_000;

interface Files {
  begin(session: Session, hashes: string[], endsAt: number): Promise<{ work: Promise<void> } | undefined>;
  close(): Promise<void>;
}
interface Modules {
  createFiles(sessions: Sessions, report: (error: unknown) => undefined): Files;
  memorySessions(): Sessions;
}
type File = { readonly user: string; readonly name: string };

describe('Turns of the users in the example for S3', { timeout: 60_000 }, () => {
  const store = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-length': request.method === 'HEAD' ? SIZE : 0 }).end();
  });
  let modules: Modules;
  let sessions: Sessions;
  let files: Files;
  /** Files whose hooks were called. */
  let scanned: File[] = [];
  let reported: File[] = [];
  let free = (): void => undefined;
  let endSlow = (): void => undefined;
  before(async () => {
    await once(store.listen(0, '127.0.0.1'), 'listening');
    Object.assign(process.env, SETTINGS, {
      S3_ENDPOINT: `http://127.0.0.1:${(store.address() as AddressInfo).port}`,
    });
    const folder = copyExample(HOOKS);
    const change = (name: string, text: string, other: string): void => {
      const path = join(folder, name);
      const before = readFileSync(path, 'utf8');
      assert.ok(before.includes(text), text);
      writeFileSync(path, before.replace(text, other));
    };
    change('files.ts', 'POLL_MS = 5000', 'POLL_MS = 20');
    change('sessions.ts', 'LEASE_MS = 30_000', 'LEASE_MS = 1000');
    const load = (name: string): Promise<Modules> => import(pathToFileURL(join(folder, name)).href);
    modules = { ...(await load('files.ts')), ...(await load('sessions.ts')) };
  });
  beforeEach(() => {
    sessions = modules.memorySessions();
    files = modules.createFiles(sessions, () => undefined);
    [scanned, reported] = [[], []];
    const held = new Promise<void>((resolve) => (free = resolve));
    const slow = new Promise<void>((resolve) => (endSlow = resolve));
    const hold = (list: File[], kind: string) => async (file: File) => {
      list.push(file);
      if (file.name.endsWith(kind)) await held;
      if (file.name.endsWith('.slow')) await slow;
    };
    Object.assign(globalThis, {
      hooksOfTurns: { refuse: hold(scanned, '.scan'), onCompleted: hold(reported, '.report') },
    });
  });
  afterEach(async () => {
    free();
    endSlow();
    await files.close();
  });
  after(() => {
    store.close();
    store.closeAllConnections();
  });

  async function open(user: string, name = 'a.bin'): Promise<Session> {
    const session = { ...sessionOf(user, SIZE), name };
    assert.equal(await openOne(sessions, session), 'opened');
    return session;
  }
  const stateOf = async ({ id }: Session): Promise<string | undefined> => (await sessions.find(id))?.state;
  /** Commits as a browser does that got 202. Resolves with false if there was no place for the file until the time `endsAt`. */
  async function commit(session: Session, endsAt = 0): Promise<boolean> {
    const known = await sessions.find(session.id);
    if (known?.state !== 'open' && known?.state !== 'committing') return true;
    const begun = await files.begin(known, [HASH], endsAt);
    await begun?.work;
    return begun !== undefined;
  }
  const isOver = async (session: Session): Promise<boolean> =>
    ['done', 'delivered'].includes(`${await stateOf(session)}`);
  const countOf = (list: File[], user: string): number => list.filter((file) => file.user === user).length;

  test('a process builds four files of a user for requests, and one in the background', async () => {
    const own = await Promise.all(Array.from({ length: 20 }, () => open('user-noisy', 'a.scan')));
    for (const session of own) void commit(session);
    await until(() => countOf(scanned, 'user-noisy') >= 5);
    const other = await open('user-calm');
    await commit(other);
    assert.ok(await isOver(other), 'the other user did not wait');
    await sleep(200);
    assert.equal(countOf(scanned, 'user-noisy'), 5);
    for (const session of own) assert.equal(await stateOf(session), 'committing');
  });

  test('a commit that is repeated while the process is busy is built in the background', async () => {
    for (let user = 0; user < 8; user += 1)
      for (let count = 0; count < 4; count += 1) void commit(await open(`user-${user}`, 'a.scan'));
    await until(() => scanned.length === 32);
    // The background works for one file of a user at a time, and this one holds up the other.
    await commit(await open('user-late', 'a.slow'));
    await until(() => countOf(scanned, 'user-late') === 1);
    const late = await open('user-late');
    // More often than its lease would end, and for longer than a lease.
    const begunMs = performance.now();
    await until(async () => {
      await commit(late);
      return performance.now() - begunMs > 1500;
    });
    endSlow();
    await until(async () => {
      await commit(late);
      return isOver(late);
    });
  });

  test('a commit waits for a place, or until its time or the process ends', async () => {
    const own = await Promise.all(Array.from({ length: 4 }, () => open('user-noisy', 'a.scan')));
    for (const session of own) void commit(session);
    await until(() => countOf(scanned, 'user-noisy') === 4);
    const [late, next, last] = [await open('user-noisy'), await open('user-noisy'), await open('user-noisy')];
    assert.equal(await commit(late, Date.now() + 50), false);
    assert.equal(await stateOf(late), 'committing');
    const waiting = files.begin(next, [HASH], Date.now() + 60_000);
    assert.equal(await stateOf(next), 'open');
    free();
    await (await waiting)?.work;
    assert.ok(await isOver(next));
    const slow = await Promise.all(Array.from({ length: 4 }, () => open('user-noisy', 'a.slow')));
    for (const session of slow) void commit(session);
    await until(() => scanned.filter(({ name }) => name === 'a.slow').length === 4);
    const ended = files.begin(last, [HASH], Date.now() + 60_000);
    assert.equal(await stateOf(last), 'open');
    const closed = files.close();
    assert.equal(await ended, undefined);
    assert.equal(await stateOf(last), 'committing');
    endSlow();
    await closed;
  });

  test('slow scans of a user in the background delay no other user', async () => {
    // A process that has ended held these.
    const leave = async (session: Session): Promise<Session> => {
      assert.ok(await sessions.claim(session.id, 'ended', [HASH]));
      return session;
    };
    for (let count = 0; count < 10; count += 1) await leave(await open('user-noisy', 'a.scan'));
    const others = await Promise.all(
      ['user-a', 'user-b', 'user-c'].map(async (user) => leave(await open(user))),
    );
    for (const other of others) await until(() => isOver(other));
    // All four began together, and nothing says whose store requests end first.
    await until(() => countOf(scanned, 'user-noisy') > 0);
    assert.equal(countOf(scanned, 'user-noisy'), 1);
  });

  test('slow reports of a user delay no other user, and follow one after the other', async () => {
    const own = await Promise.all(Array.from({ length: 10 }, () => open('user-noisy', 'a.report')));
    for (const session of own) await commit(session);
    const other = await open('user-calm');
    await commit(other);
    await until(async () => (await stateOf(other)) === 'delivered');
    await until(() => countOf(reported, 'user-noisy') > 0);
    assert.equal(countOf(reported, 'user-noisy'), 1);
    free();
    for (const session of own) await until(async () => (await stateOf(session)) === 'delivered');
    assert.equal(countOf(reported, 'user-noisy'), 10);
  });

  test('a process that ends leaves a commit to the others at once', async () => {
    const session = await open('user-last');
    await files.close();
    await commit(session);
    assert.equal(await stateOf(session), 'committing');
    const work = await sessions.takeWork(randomUUID(), 'committing', []);
    assert.equal(work?.id, session.id);
  });
});

// A listener may call any command. Most tests call one command in one event of an upload.

import { expect } from '@open-wc/testing';
import { FormRequests } from '../../src/auth/form.ts';
import { openAuthSession } from '../../src/auth/session.ts';
import type { AuthSession } from '../../src/auth/types.ts';
import type { Post } from '../../src/core/auth-options.ts';
import type { ChangeName } from '../../src/core/changes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { Calls, FileId } from '../../src/core/types.ts';
import { connect } from '../../src/engine/connection.ts';
import type { UploaderOptions } from '../../src/engine/uploader-options.ts';
import { HashPool } from '../../src/pipeline/hash-pool.ts';
import { challenged, granted } from '../auth/scripted.ts';
import { fileOf } from '../support/bytes.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { onDrive } from '../support/drive.ts';
import { isFullSize } from '../support/scope.ts';
import { type World, world } from '../support/world.ts';

const UPLOAD_EVENTS: readonly ChangeName[] = [
  'file-added',
  'upload-started',
  'upload-progress',
  'chunk-hashed',
  'chunk-uploaded',
  'upload-paused',
  'upload-resumed',
  'upload-completed',
  'upload-failed',
  'upload-canceled',
  'file-renamed',
  'file-removed',
  'file-moved',
  'file-rejected',
  'rejections-dismissed',
  'uploads-finished',
];
const SIGN_IN_EVENTS: readonly ChangeName[] = [
  'auth-required',
  'auth-changed',
  'auth-challenged',
  'auth-failed',
  'signed-in',
  'signed-out',
];

const COMMANDS: readonly [string, (engine: World, id: FileId) => Promise<unknown>][] = [
  ['pause', ({ uploader }, id) => uploader.pause(id)],
  ['resume', ({ uploader }, id) => uploader.resume(id)],
  ['cancel', ({ uploader }, id) => uploader.cancel(id)],
  ['retry', ({ uploader }, id) => uploader.retry(id)],
  ['remove', ({ uploader }, id) => uploader.remove(id)],
  ['prioritize', ({ uploader }, id) => uploader.prioritize(id)],
  ['start', ({ uploader }, id) => uploader.start(id)],
  ['move', ({ uploader }, id) => uploader.move(id)],
  ['provide', ({ uploader }, id) => uploader.provide(id, FILE)],
  ['withdraw', ({ uploader }, id) => uploader.undo.withdraw('removed', [id])],
  [
    'withdraw and undo',
    ({ uploader }, id) => Promise.all([uploader.undo.withdraw('canceled', [id]), uploader.undo.undo(id)]),
  ],
  [
    'withdraw and complete',
    ({ uploader }, id) => Promise.all([uploader.undo.withdraw('canceled', [id]), uploader.undo.complete()]),
  ],
  ['clear', ({ uploader }) => uploader.clear()],
  ['start all', ({ uploader }) => uploader.start()],
  ['pause all', ({ uploader }) => uploader.pause()],
  ['resume all', ({ uploader }) => uploader.resume()],
  ['cancel all', ({ uploader }) => uploader.cancel()],
  ['retry all', ({ uploader }) => uploader.retry()],
  ['addFiles', ({ uploader }) => uploader.addFiles(fileOf(2, 900, 'b.bin'))],
  ['dismissRejections', async ({ uploader }) => uploader.dismissRejections()],
  ['suspend', ({ uploader }) => uploader.suspend()],
  ['suspend and restore', ({ uploader }) => Promise.all([uploader.suspend(), uploader.restore()])],
  ['signOut', ({ uploader }) => uploader.signOut()],
  ['configure', async ({ uploader, input }) => uploader.configure({ ...input, owner: 'ann' })],
  ['signIn', async ({ uploader }) => uploader.signIn()],
  ['cancelSignIn', async ({ uploader }) => uploader.cancelSignIn()],
  [
    'close',
    async (engine) => {
      closed.set(engine, Number.POSITIVE_INFINITY);
      await engine.uploader.close();
      closed.set(engine, engine.service.log.length);
    },
  ],
];

const FILE = fileOf(1, 2500, 'a.bin');
/** Number of requests of each closed engine when `close()` resolved. */
const closed = new WeakMap<World, number>();
const rejections: unknown[] = [];
const onRejection = (event: PromiseRejectionEvent): void => void rejections.push(event.reason);

before(() => addEventListener('unhandledrejection', onRejection));
after(() => {
  removeEventListener('unhandledrejection', onRejection);
  pool.close();
});
const ACTIVE: ReadonlySet<string | undefined> = new Set([
  ...['queued', 'hashing', 'uploading', 'committing'],
  ...['signed-out', 'challenge'],
]);

/** What the user does about sign-in, by engine. */
const users = new WeakMap<World, () => void>();

/** Waits until `isTrue` returns true, or until no upload is active: the commands of a listener may have made this impossible. */
async function look(engine: World, isTrue: () => boolean): Promise<void> {
  const { uploader } = engine;
  const isActive = (): boolean =>
    !closed.has(engine) &&
    uploader.snapshot.files.some(({ phase, pauseReason }) => ACTIVE.has(pauseReason ?? phase));
  while (!isTrue() && isActive()) {
    uploader.restore();
    users.get(engine)?.();
    await settled();
  }
}

/** Pool of all engines with sign-in, because the start of workers takes most of their time. */
const pool = new HashPool({ algorithm: 'sha-256' });

const createEngine = (settings: SettingsInput = {}, options: UploaderOptions = {}): World =>
  world({ maxFileSize: 9000, baseUrl: `https://${crypto.randomUUID()}.test`, ...settings, ...options });

/** Returns an engine whose user signs in by a form, at first with a wrong password, then with a code. */
function createWithSignIn(): World {
  let loginCount = 0;
  const post: Post = async (path) => {
    if (path === '/auth/token') return granted();
    if (path === '/auth/challenge') return { status: 200, body: { status: 'ok', code: 'code' } };
    loginCount += 1;
    return loginCount === 1
      ? { status: 401, body: {} }
      : challenged('challenge-token', { available_methods: ['totp'] });
  };
  const sessions: AuthSession[] = [];
  const engine = createEngine(
    { auth: 'local', silent: 'off', authOptions: { loginSendsChallenge: true } },
    {
      connect: (settings, ...given) => {
        // The client shares this session, which has the scripted responses.
        const session = openAuthSession(settings, { post, report: () => undefined });
        sessions.push(session);
        const { auth, close, stallMs } = connect(settings, ...given);
        return {
          ...{ auth, pool, stallMs },
          // Getters, because the constructor of the engine calls this function.
          get put() {
            return engine.service.put;
          },
          get calls(): Calls {
            const { openSession, ...calls } = engine.service.calls;
            return {
              ...calls,
              openSession: (input, signal) => auth.withToken(() => openSession(input, signal), signal),
            };
          },
          close: () => {
            close();
            session.close();
          },
        };
      },
    },
  );
  users.set(engine, () => {
    for (const session of sessions) {
      const { required, state } = session.snapshot;
      const form = session.form((host) => new FormRequests(host));
      if (required && state === 'signed-out') session.signIn();
      if (required && state === 'prompt') form.logIn({ email: 'ann@example.com', password: 'secret' });
      if (required && state === 'answer') form.answer('123456');
    }
  });
  return engine;
}

/** Causes every event of sign-in, as far as the listener allows: signs in, uploads a file, signs out, and signs in again. */
async function playSignIn(engine: World): Promise<void> {
  const { service, uploader } = engine;
  service.answerAll();
  await uploader.addFiles(fileOf(5, 900, 'first.bin'));
  await look(engine, () => engine.phase('first.bin') === 'done');
  await uploader.signOut();
  await uploader.addFiles(fileOf(6, 900, 'second.bin'));
  await look(engine, () => engine.phase('second.bin') === 'done');
}

/** Causes every event of an upload, as far as the listener allows. One file is paused, resumed, fails, is renamed and completes. */
async function play(engine: World): Promise<void> {
  const { service, uploader } = engine;
  service.answerAll('open', 'presign', 'cancel');
  await uploader.addFiles([FILE, fileOf(3, 10_000, 'too-large.bin')]);
  uploader.dismissRejections();
  await look(engine, () => service.waiting('put').length > 0);
  service.waiting('put')[0]?.answer();
  await look(engine, () => engine.details('chunk-uploaded').length > 0);
  await uploader.pause();
  await uploader.resume();
  service.answerAll('put');
  await look(engine, () => {
    // After the first refusal, the upload continues in a new session, because its session may be lost.
    for (const commit of service.waiting('commit'))
      commit.refuse(new UploaderError('forbidden', 'not now', { status: 403 }));
    return engine.details('upload-failed').length > 0;
  });
  service.answerAll();
  const [file] = uploader.snapshot.files;
  if (file) await uploader.retry(file.id, 'renamed.bin');
  await look(engine, () => engine.phases()[0] === 'done');
  await uploader.addFiles([fileOf(4, 900, 'removed.bin')]);
  await uploader.move(uploader.snapshot.files[0]?.id ?? '');
  await uploader.remove(engine.row('removed.bin')?.id ?? '');
  await look(engine, () => engine.details('file-removed').length > 0);
}

/** Undoes all cancels and removals, then resumes and retries all uploads. Resolves when every upload is done. */
async function finish(engine: World): Promise<void> {
  const { uploader } = engine;
  uploader.restore();
  await Promise.all(uploader.snapshot.files.map(({ id }) => uploader.undo.undo(id)));
  await Promise.all([uploader.resume(), ...uploader.snapshot.files.map(({ id }) => uploader.retry(id))]);
  await until(() => {
    users.get(engine)?.();
    return uploader.snapshot.files.every(({ phase }) => phase === 'done');
  });
}

/** Asserts that a closed engine has made no request since it was closed, and that it has no lock. */
async function assertClosed({ input, service }: World, requestCount: number): Promise<void> {
  expect(service.log.slice(requestCount)).to.deep.equal([]);
  expect(service.putCount).to.equal(0);
  const { held = [] } = await navigator.locks.query();
  expect(held.filter(({ name }) => name?.includes(input.baseUrl ?? ''))).to.deep.equal([]);
}

/** Calls a command in the first three events with this name, and checks the changes and the end of the upload. */
async function callIn(event: ChangeName, command: (typeof COMMANDS)[number][1]): Promise<void> {
  const isSignIn = SIGN_IN_EVENTS.includes(event);
  const engine = isSignIn ? createWithSignIn() : createEngine();
  const commands: Promise<unknown>[] = [];
  // Counted before the call, because addFiles() reports file-added before it returns.
  let callCount = 0;
  const stop = engine.uploader.onChange((change) => {
    if (change.name !== event || callCount > 2) return;
    callCount += 1;
    const [first] = engine.uploader.snapshot.files;
    const { id } = { id: first?.id ?? '', ...(change.detail as { readonly id?: FileId }) };
    commands.push(command(engine, id));
  });
  await (isSignIn ? playSignIn : play)(engine);
  stop();
  engine.service.answerAll();
  await Promise.all(commands);
  expect(callCount, event).to.be.greaterThan(0);
  const requestCount = closed.get(engine);
  if (requestCount === undefined) await finish(engine);
  await settled();
  if (requestCount !== undefined) await assertClosed(engine, requestCount);
  const completed = engine.details('upload-completed').map(({ id }) => id);
  expect(new Set(completed).size).to.equal(completed.length);
  const removed = new Set<FileId>();
  for (const change of engine.changes) {
    const id = 'id' in change.detail ? change.detail.id : '';
    expect(removed.has(id), `${change.name} after file-removed`).to.equal(false);
    if (change.name === 'file-removed') removed.add(id);
  }
}

describe('a listener', () => {
  for (const [nth, [name, command]] of COMMANDS.entries()) {
    // Without sign-in, these two do nothing.
    const isOfSignIn = name === 'signIn' || name === 'cancelSignIn';
    const known = isOfSignIn ? SIGN_IN_EVENTS : [...UPLOAD_EVENTS, ...SIGN_IN_EVENTS];
    // Otherwise each command is called in a fifth of the events, and each event has a fifth of the commands.
    const events = known.filter((_, at) => isFullSize || (at + nth) % 5 === 0);
    describe(`that calls ${name}`, () => {
      let runs: ReadonlyMap<ChangeName, Promise<void>>;

      // The engines wait for storage and workers most of the time, therefore the events of a command are tested in parallel. But a
      // sign-out is one for all engines of a page.
      before(async () => {
        const signsOut = (event: ChangeName): boolean => name === 'signOut' || SIGN_IN_EVENTS.includes(event);
        const started = new Map<ChangeName, Promise<void>>();
        for (const event of events.filter((each) => !signsOut(each)))
          started.set(event, callIn(event, command));
        await Promise.allSettled(started.values());
        for (const event of events.filter(signsOut)) {
          started.set(event, callIn(event, command));
          await Promise.allSettled(started.values());
        }
        runs = started;
      });

      for (const event of events)
        it(`in ${event} leaves the upload in a valid state`, async () => {
          await runs.get(event);
          expect(rejections).to.deep.equal([]);
        });
    });
  }

  it('of the last progress event that pauses or cancels cannot undo a committed upload', async () => {
    for (const name of ['pause', 'cancel'] as const) {
      const engine = world();
      engine.service.answerAll();
      const commands: Promise<void>[] = [];
      engine.uploader.on('upload-progress', ({ id, sentBytes, sizeBytes }) => {
        if (sentBytes === sizeBytes && commands.length === 0) commands.push(engine.uploader[name](id));
      });
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await engine.waitForChange('upload-completed');
      await Promise.all(commands);
      await engine.uploader.close();
      expect(commands).to.have.length(1);
      expect(engine.phase('a.bin')).to.equal('done');
      expect(engine.service.count('commit')).to.equal(1);
      expect(engine.changeNames('a.bin')).to.deep.equal(['file-added', 'upload-started', 'upload-completed']);
    }
  });

  it('that cancels one file while all are being paused does not stop the others from being paused', async () => {
    const engine = world({ concurrency: 6 });
    engine.service.answerAll('open', 'presign', 'cancel');
    await engine.uploader.addFiles([1, 2, 3].map((seed) => fileOf(seed, 900, `${seed}.bin`)));
    await until(() => engine.service.waiting('put').length === 3);
    const reported = deferred();
    engine.uploader.on('upload-paused', ({ id }) => {
      void engine.uploader.cancel(id).then(reported.resolve, reported.reject);
    });
    const first = engine.id('1.bin');
    await engine.uploader.pause(first);
    await reported.promise;
    engine.uploader.on('upload-paused', () => undefined);
    await engine.uploader.pause();
    expect(engine.phases()).to.deep.equal(['canceled', 'canceled', 'canceled']);
  });

  it('that cancels a file that became unreadable finds it canceled', async () => {
    const engine = world({ workerUrl: '/no-such-worker.js' });
    engine.service.answerAll();
    engine.uploader.on('upload-progress', ({ id, warning }) => {
      if (warning === 'file-unreadable') void engine.uploader.cancel(id);
    });
    await engine.uploader.addFiles([onDrive(fileOf(1, 2500, 'a.bin'), { isAway: true })]);
    await engine.waitForChange('upload-canceled');
    expect(engine.phase('a.bin')).to.equal('canceled');
  });
});

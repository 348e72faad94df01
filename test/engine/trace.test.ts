// Spans (`onSpan`) and the report for support (`diagnose()`): what they say, and that they contain no secrets.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import type { ErrorCode } from '../../src/core/error-codes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { AuthState, Calls, CommitProof, Session } from '../../src/core/types.ts';
import { type Diagnosis, type Span, Trace } from '../../src/engine/trace.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { addFault, findReference, tokenOf, uniqueName } from '../service/reference.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { firstSeed } from '../support/scope.ts';
import { type World, world } from '../support/world.ts';

const { reportError } = globalThis;
afterEach(() => {
  globalThis.reportError = reportError;
});

/** What a span says, without times. */
const lineOf = ({ kind, outcome, attempt, sizeBytes, status }: Span): string =>
  [kind, outcome, attempt, sizeBytes, status].filter((each) => each !== undefined).join(' ');

const isOver = ({ snapshot }: Uploader): boolean =>
  snapshot.files.length > 0 && snapshot.files.every(({ phase }) => phase === 'done' || phase === 'failed');

/** Uploads a file of one chunk, and returns its spans. */
async function traced(
  prepare: (service: World['service']) => unknown = () => undefined,
): Promise<{ readonly engine: World; readonly spans: Span[] }> {
  const spans: Span[] = [];
  const engine = world({ chunkSize: 2000, onSpan: (span) => spans.push(span) });
  engine.service.answerAll();
  const prepared = prepare(engine.service);
  await engine.uploader.addFiles([fileOf(1, 1234, 'a.bin')]);
  await prepared;
  await until(() => isOver(engine.uploader));
  return { engine, spans };
}

describe('onSpan', () => {
  it('gets a span for each step of an upload, with sizes of two digits', async () => {
    const { engine, spans } = await traced();
    expect(spans.map(lineOf).toSorted()).to.deep.equal([
      'commit ok 1',
      'hash ok 1 1200',
      'presign ok 1 1200',
      'put ok 1 1200',
      'session ok 1',
    ]);
    for (const { id, startMs, durationMs } of spans) {
      expect(id).to.equal(engine.id('a.bin'));
      expect(startMs).to.be.closeTo(Date.now(), 60_000);
      expect(durationMs).to.be.at.least(0);
    }
    expect(spans.every(Object.isFrozen)).to.equal(true);
  });

  it('counts attempts of the same step, with the code and the status of the error', async () => {
    const { spans } = await traced(async (service) => {
      service.hold('open', 'put', 'commit');
      const fail = async (
        kind: 'open' | 'put' | 'commit',
        ...error: ConstructorParameters<typeof UploaderError>
      ) => (await service.nextRequest(kind)).refuse(new UploaderError(...error));
      await fail('open', 'service-failed', 'secret', { status: 500 });
      service.answerAll('open');
      await fail('put', 'network', 'secret');
      service.answerAll('put');
      await fail('commit', 'timeout', 'secret');
      await fail('commit', 'service-failed', 'secret', { status: 503 });
      service.answerAll('commit');
    });
    const lines = spans.map(lineOf);
    expect(lines.filter((line) => line.startsWith('session'))).to.deep.equal([
      'session service-failed 1 500',
      'session ok 2',
    ]);
    expect(lines.filter((line) => line.startsWith('commit'))).to.deep.equal([
      'commit timeout 1',
      'commit service-failed 2 503',
      'commit ok 3',
    ]);
    expect(lines.filter((line) => line.startsWith('put'))).to.deep.equal([
      'put network 1 1200',
      'put ok 2 1200',
    ]);
  });

  it('gets `stopped` for a request that a pause ends', async () => {
    const spans: Span[] = [];
    const engine = world({ onSpan: (span) => spans.push(span) });
    engine.service.answerAll('open', 'presign');
    await engine.uploader.addFiles([fileOf(1, 100, 'a.bin')]);
    await engine.service.nextRequest('put');
    await engine.uploader.pause();
    await until(() => spans.some(({ kind }) => kind === 'put'));
    expect(spans.map(lineOf)).to.include('put stopped 1 100');
  });

  it('does not disturb the upload by throwing', async () => {
    const errors: unknown[] = [];
    globalThis.reportError = (error) => errors.push(error);
    const engine = world({
      onSpan: () => {
        throw new Error('of the page');
      },
    });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 100, 'a.bin')]);
    await engine.waitForChange('upload-completed');
    expect(errors).to.have.length(5);
  });

  it('gets a span for each sign-in, and its attempt', async () => {
    const spans: Span[] = [];
    let callCount = 0;
    const { uploader } = await world({
      service: 'reference',
      auth: 'token',
      getToken: () => {
        callCount += 1;
        return callCount === 1
          ? Promise.reject(new DOMException('secret', 'NotAllowedError'))
          : tokenOf('alice');
      },
      onSpan: (span) => spans.push(span),
    });
    await uploader.addFiles([fileOf(1, 100, uniqueName())]);
    await until(() => spans.length > 0);
    uploader.signIn();
    await until(() => isOver(uploader));
    const signIns = spans.filter(({ kind }) => kind === 'sign-in');
    expect(signIns.map(lineOf)).to.deep.equal(['sign-in host-token-failed 1', 'sign-in ok 2']);
    expect(signIns.some((span) => 'id' in span)).to.equal(false);
  });
});

describe('a trace', () => {
  const start = () => {
    const spans: Span[] = [];
    const { snapshot } = world().uploader;
    const trace = new Trace(snapshot, (span) => spans.push(span));
    const auth = (previous: AuthState, state: AuthState): void =>
      trace.onChange({ name: 'auth-changed', detail: { previous, state } });
    const fail = (code: ErrorCode): void =>
      trace.onChange({ name: 'auth-failed', detail: { code, retryable: true } });
    return { trace, spans, auth, fail };
  };

  it('has a span for each sign-in, also if the next one starts in the same step', async () => {
    const { spans, auth, fail } = start();
    auth('signed-out', 'silent');
    auth('silent', 'prompt');
    fail('silent-timeout');
    auth('prompt', 'popup');
    await settled();
    auth('popup', 'signed-in');
    await settled();
    expect(spans.map(lineOf)).to.deep.equal(['sign-in silent-timeout 1', 'sign-in ok 2']);
  });

  it('keeps no error and no attempt of an earlier sign-in', async () => {
    const { trace, spans, auth, fail } = start();
    auth('signed-out', 'popup');
    auth('popup', 'prompt');
    fail('popup-closed');
    await settled();
    fail('popup-blocked');
    auth('prompt', 'popup');
    auth('popup', 'signed-out');
    trace.onChange({ name: 'signed-out', detail: { reason: 'user' } });
    await settled();
    auth('signed-out', 'popup');
    auth('popup', 'signed-in');
    await settled();
    expect(spans.map(lineOf)).to.deep.equal(['sign-in popup-closed 1', 'sign-in stopped 2', 'sign-in ok 1']);
  });

  it('has the code of a commit that finds its name taken, and does not count what was stopped', async () => {
    const { trace, spans } = start();
    const stop = new AbortController();
    const rejections: unknown[] = [
      new UploaderError('name-taken', '', { status: 409 }),
      undefined,
      new DOMException('', 'AbortError'),
    ];
    const given: Calls = {
      openSession: () => Promise.reject(new Error('unused')),
      presign: () => Promise.reject(new Error('unused')),
      commit: () => Promise.reject(rejections.shift()),
    };
    const { calls } = trace.wrap('file-1', { calls: given });
    for (let count = 0; count < 3; count += 1)
      await calls.commit?.({} as Session, {} as CommitProof, stop.signal).catch(() => undefined);
    expect(spans.map(lineOf)).to.deep.equal([
      'commit name-taken 1 409',
      'commit stopped 2',
      'commit stopped 2',
    ]);
  });
});

describe('diagnose()', () => {
  it('reports version, settings, browser, storage and sums as plain data', async () => {
    const { engine } = await traced();
    const report = await engine.uploader.diagnose();
    const { version } = (await (await fetch('/package.json')).json()) as { version: string };
    expect(report.version).to.equal(version);
    expect(report.totals).to.include({ fileCount: 1, doneCount: 1, sizeBytes: 1200, storedBytes: 1200 });
    expect(report.settings).to.include({
      chunkSize: 2000,
      auth: 'none',
      maxFiles: 'Infinity',
      parentId: 'set',
    });
    expect(report.browser).to.include({
      userAgent: navigator.userAgent,
      isSecureContext: true,
      Worker: true,
    });
    expect(report.auth).to.deep.equal({ state: 'signed-out', mode: 'none', required: false });
    expect(report.spans).to.have.length(5);
    expect(report.errors).to.deep.equal([]);
    expect(structuredClone(report)).to.deep.equal(report);
  });

  it('has no users, folders, functions, queries of URLs or values of objects', async () => {
    const engine = world({
      ...{
        owner: 'user-secret',
        parentId: 'folder-secret',
        workerUrl: '/hash.worker.js?key=secret#secret',
      },
      ...{ profile: { putHeaders: () => ({ key: 'secret' }) }, parentFor: () => 'secret' },
      authOptions: { params: { login_hint: 'secret' } },
    });
    const { settings } = await engine.uploader.diagnose();
    expect(JSON.stringify(settings)).not.to.contain('secret');
    expect(settings).to.include({ owner: 'set', parentId: 'set', parentFor: 'function' });
    expect(settings.workerUrl).to.match(/\/hash\.worker\.js$/);
    expect(settings.profile).to.include('putHeaders');
  });

  it('has the last error of each row when it is called for the first time, and those after it', async () => {
    const engine = world({ accept: '.bin' });
    engine.service.answerAll('open', 'presign', 'put');
    const failOne = async (name: string): Promise<void> => {
      await engine.uploader.addFiles([fileOf(1, 100, name)]);
      (await engine.service.nextRequest('commit')).refuse(
        new UploaderError('forbidden', 'secret', { status: 403 }),
      );
      await until(() => engine.phase(name) === 'failed');
    };
    await failOne('a.bin');
    await engine.uploader.addFiles([fileOf(1, 100, 'secret.zip')]);
    const first = await engine.uploader.diagnose();
    expect(first.errors).to.deep.equal([
      { kind: 'upload', id: engine.id('a.bin'), code: 'forbidden', status: 403 },
      { kind: 'rejection', code: 'file-type-refused' },
    ]);
    expect(first.spans).to.deep.equal([]);
    await failOne('b.bin');
    const second = await engine.uploader.diagnose();
    expect(second.errors.slice(2).map(({ kind, code, status }) => [kind, code, status])).to.deep.equal([
      ['upload', 'forbidden', 403],
    ]);
    expect(second.spans.map(lineOf)).to.include('commit forbidden 1 403');
  });

  it('keeps the last 100 spans and the last 100 errors', async () => {
    const engine = world({ accept: '.bin' });
    engine.service.answerAll();
    await engine.uploader.diagnose();
    const names = Array.from({ length: 30 }, (_, at) => `${at}.bin`);
    await engine.uploader.addFiles(names.map((name, at) => fileOf(at + 1, 100 + at, name)));
    await engine.uploader.addFiles(Array.from({ length: 120 }, (_, at) => fileOf(1, 1, `${at}.zip`)));
    await until(() => isOver(engine.uploader));
    const { spans, errors } = await engine.uploader.diagnose();
    expect([spans.length, errors.length]).to.deep.equal([100, 100]);
    expect(spans.at(-1)?.kind).to.equal('commit');
  });
});

const COUNT = 100;
const OPERATIONS = ['session', 'chunks', 'put', 'commit'] as const;
const FAULTS = [
  { status: 400, body: { debuginfo: 'secret-of-the-service' } },
  { status: 403, body: 'secret-of-the-service' },
  { status: 409 },
  { status: 413 },
  { status: 429, headers: { 'retry-after': '0' } },
  { status: 500, body: 'secret-of-the-service' },
  { status: 503 },
  { cut: 'before-body' },
  { cut: 'after-body' },
  { cut: 'mid-answer' },
  { withoutCors: true },
  { omitEntry: true },
  { wrongTicket: true },
  { storeNothing: true },
] as const;

/** Makes uploads with a fault each, and looks for secrets in their spans and reports. */
async function scan(seed: number): Promise<void> {
  const { storageUrl } = await findReference();
  const spans: Span[] = [];
  const secrets = new Set([storageUrl, 'secret-of-the-service', 'folder-a', 'alice', 'upload_url']);
  const faults = fc.sample(fc.tuple(fc.constantFrom(...OPERATIONS), fc.constantFrom(...FAULTS)), {
    seed,
    numRuns: COUNT,
  });
  const getToken = async (): Promise<string> => {
    const token = await tokenOf('alice');
    secrets.add(token);
    return token;
  };
  // Many rejected tokens at once would make the engine wait for 30 seconds.
  faults.splice(0, 1, ['session', { status: 401 } as never]);
  /** Makes ten uploads. Their engine alone waits for an outage that it sees. */
  const makeTen = async (at: number): Promise<Diagnosis> => {
    const { uploader } = await world({
      service: 'reference',
      getToken,
      owner: 'alice',
      noResume: true,
      onSpan: (span) => spans.push(span),
      policy: { attempts: 2, baseMs: 1, capMs: 2 },
    });
    uploader.on('upload-completed', ({ name, sessionId, chunks, commit }) => {
      for (const secret of [
        name,
        sessionId,
        JSON.stringify(commit),
        ...chunks.flatMap((each) => [each.hash, each.receipt]),
      ])
        if (secret) secrets.add(secret);
    });
    for (const [operation, fault] of faults.slice(at, at + 10)) {
      const name = uniqueName();
      secrets.add(name);
      const file = fileOf(at + 1, 100_000 + secrets.size, name);
      await addFault({ operation, match: { fileName: name }, ...fault });
      await uploader.addFiles([file]);
    }
    await until(() => isOver(uploader));
    return uploader.diagnose();
  };
  const starts = Array.from({ length: COUNT / 10 }, (_, ten) => ten * 10);
  const reports = await Promise.all(starts.map(makeTen));
  const text = JSON.stringify([spans, reports]);
  expect(JSON.stringify(spans)).not.to.contain('http');
  expect([...secrets].filter((secret) => text.includes(secret))).to.deep.equal([]);
  const outcomes = new Set(spans.map(({ outcome }) => outcome));
  expect([...outcomes]).to.include.members(['ok', 'forbidden', 'service-failed', 'network']);
  expect(spans.length).to.be.greaterThan(COUNT * 4);
}

for (let at = 0; at < 5; at += 1)
  it(`${COUNT} uploads with a fault each leave no secret in spans and reports: part ${at + 1} of 5`, () =>
    scan(firstSeed + at));

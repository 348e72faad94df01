// `secure-uploader conform`: gives no false alarm for correct services, and finds the fault of each mutant.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { ServiceOptions } from '../../demo/server/options.ts';
import { CHECKS, type Report } from '../../src/cli/conform.ts';
import { reportText } from '../../src/cli/report.ts';
import { failuresOf, runConform } from '../support/conform.ts';
import { type FaultyServer, startFaultyServer } from '../support/mutant-proxy.ts';
import {
  BATCH,
  CANCEL,
  COMMIT,
  changed,
  is,
  isOk,
  jsonOf,
  known,
  onlyFor,
  respond,
} from '../support/mutations.ts';
import { OTHER_TOKEN, type OtherService, startOtherService } from '../support/other-service.ts';
import { ACCESS_MUTANTS } from './mutants-of-access.ts';
import { BATCH_MUTANTS, OTHER_BATCHES } from './mutants-of-batches.ts';
import { UPLOAD_MUTANTS } from './mutants-of-upload.ts';
import { page, type Rig, startRig } from './support.ts';

async function optionsFor({ service }: Rig): Promise<Record<string, string>> {
  const [own, other] = [await service.createToken('alice'), await service.createToken('tom')];
  return {
    ...{ 'base-url': service.baseUrl, 'parent-id': 'folder-a', origin: page },
    ...{ token: own.token, 'second-token': other.token },
    ...{ 'commit-path': '/files/uploadsession/commit', 'cancel-path': '/files/uploadsession' },
  };
}

describe('The checks of conform', () => {
  test('have different ids, and sections of the documentation', () => {
    const ids = CHECKS.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length > 150, `${ids.length} checks`);
    const text = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');
    const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
    assert.deepEqual(
      CHECKS.filter(({ section }) => !anchors.includes(section)).map(({ id }) => id),
      [],
    );
  });
});

/** Settings of the reference service. */
const SETTINGS: Readonly<Record<string, Partial<ServiceOptions>>> = {
  'its defaults': {},
  'URLs that do not tell their lifetime': { urlTellsExpiry: false },
  'small presign requests': { maxHashesPerBatch: 10 },
  batches: { batches: true },
  'small files and chunks': { maxFileBytes: 2 ** 20, maxChunkBytes: 2 ** 16 },
  'cookies for pages of other sites': { cookie: 'cross-site' },
  'another host name': { host: 'localhost' },
  'no test mode': { rateLimit: { requests: 10, windowMs: 60_000 } },
  BLAKE3: { hash: 'blake3' },
};

describe('conform gives no false alarm', () => {
  for (const [name, settings] of Object.entries(SETTINGS)) {
    test(`for the reference service with ${name}`, async () => {
      const rig = await startRig(settings);
      try {
        const report = await runConform({ ...(await optionsFor(rig)), hash: settings.hash ?? 'sha-256' });
        assert.deepEqual(failuresOf(report), []);
        assert.ok(report.passed > (settings.hash ? 70 : 125), `${report.passed} passed`);
        const said = settings.hash
          ? /\nThe settings so far \(--hash\):\n/
          : /\nThese settings work with the service:\n/;
        assert.match(reportText(report), said);
      } finally {
        await rig.end();
      }
    });
  }

  test('for a service with batches at the usual path, which it finds', async () => {
    for (const batches of [false, true]) {
      const rig = await startRig({ batches });
      const report = await runConform({ ...(await optionsFor(rig)), only: 'batch-' });
      await rig.end();
      assert.deepEqual(failuresOf(report), []);
      assert.equal(report.passed > 0 && report.skipped === 0, batches);
      assert.equal(report.html.includes('batch-path="/files/uploadsession/batch"'), batches);
    }
  });

  test('for a page on the origin of the service, which needs no CORS', async () => {
    const rig = await startRig();
    try {
      const options = { ...(await optionsFor(rig)), origin: rig.service.baseUrl, only: 'cors-' };
      const report = await runConform(options);
      assert.deepEqual(failuresOf(report), []);
      assert.ok(report.skipped > 20, `${report.skipped} skipped`);
    } finally {
      await rig.end();
    }
  });

  test('for URLs that expire while it waits', async () => {
    const rig = await startRig({ urlLifetimeMs: 1000 });
    try {
      const report = await runConform({ ...(await optionsFor(rig)), only: 'put-expired' });
      assert.match(reportText(report), /\nThe settings so far \(--only\):\n/);
      assert.deepEqual(
        [report.passed, report.results[0]?.received],
        [1, '403 {"debuginfo":"the URL has expired"}'],
      );
    } finally {
      await rig.end();
    }
  });
});

test('conform reports a service that is down behind a proxy, which responds with HTML, as any other failure', async (t) => {
  const proxy = createServer((_request, response) => {
    response
      .writeHead(502, { 'content-type': 'text/html' })
      .end('<!doctype html><title>502 Bad Gateway</title>');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const { results } = await runConform({
    'base-url': `http://127.0.0.1:${port}`,
    'parent-id': 'a',
    only: 'session-status',
  });
  assert.deepEqual(
    results.map(({ id, outcome, received }) => [id, outcome, received.slice(0, 3)]),
    [['session-status', 'fail', '502']],
  );
});

test('conform stops if the service does not respond, is somewhere else, or does not accept the token', async () => {
  const rig = await startRig();
  const { token = '', ...options } = await optionsFor(rig);
  await assert.rejects(runConform(options), { message: '401: a token is needed (--token-file)' });
  await assert.rejects(runConform({ ...options, token: `${token}x` }), { message: /^401: another token/ });
  await assert.rejects(runConform({ ...options, token, only: 'nothing' }), {
    message: '--only: there is no check "nothing"',
  });
  const wrong = `${options['base-url']}/v2`;
  await assert.rejects(runConform({ ...options, token, 'base-url': wrong }), {
    message: `404: no upload session can be opened at ${wrong}/files/uploadsession. Check --base-url and --session-path.`,
  });
  // A web site that responds to each path with its page.
  const site = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end('<!doctype html><title>A site</title>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { port } = site.address() as AddressInfo;
  await assert.rejects(runConform({ ...options, token, 'base-url': `http://127.0.0.1:${port}` }), {
    message: /^200: no upload session can be opened at /,
  });
  site.close();
  await rig.end();
  await assert.rejects(runConform({ ...options, token }), { message: /^no response: .*ECONNREFUSED/ });
});

describe('conform finds the fault of a service that', () => {
  let rig: Rig;
  let service: FaultyServer;
  let storage: FaultyServer;
  let options: Record<string, string>;
  before(async () => {
    [service, storage] = [await startFaultyServer(), await startFaultyServer()];
    const publicUrls = { service: service.origin, storage: storage.origin };
    rig = await startRig({ publicUrls, batches: true });
    service.target = `http://127.0.0.1:${rig.service.servicePort}`;
    storage.target = `http://127.0.0.1:${rig.service.storagePort}`;
    options = { ...(await optionsFor(rig)), 'batch-path': '/files/uploadsession/batch' };
    known.token = options.token ?? '';
  });
  after(async () => {
    await rig.end();
    await Promise.all([service.close(), storage.close()]);
  });

  test('(not one without a fault, behind the same proxies)', async () => {
    assert.deepEqual(failuresOf(await runConform(options)), []);
  });

  test('(not one that numbers its responses)', async () => {
    service.mutation = changed(COMMIT, (json) => Object.assign(json, { request_id: Math.random() }));
    const report = await runConform({ ...options, only: 'commit-again-answer' });
    assert.deepEqual([failuresOf(report), report.passed], [[], 1]);
  });

  for (const { difference, service: mutation } of OTHER_BATCHES)
    test(`(not one that ${difference})`, async () => {
      [service.mutation, storage.mutation] = [mutation, {}];
      const report = await runConform({ ...options, only: 'batch-' });
      assert.deepEqual(failuresOf(report), []);
      assert.ok(report.passed > 15, `${report.passed} passed`);
    });

  test('(not one without batches that answers each path)', async () => {
    const { 'batch-path': _, ...others } = options;
    for (const body of [{}, { answers: {} }, '<html>']) {
      service.mutation = onlyFor(BATCH, (passing) => respond(passing, 200, body));
      const report = await runConform({ ...others, only: 'batch-' });
      assert.deepEqual([failuresOf(report), report.passed], [[], 0]);
    }
  });

  test('has no batches at the given path, in one failure', async () => {
    service.mutation = onlyFor(BATCH, (passing) => respond(passing, 404));
    const report = await runConform({ ...options, only: 'batch-' });
    assert.match(failuresOf(report).join(), /^batch-status: expected 200 with answers, received 404 /);
    assert.equal(failuresOf(report).length, 1);
  });

  test('(and leaves no session of a batch that is neither committed nor canceled)', async () => {
    const [left, ended]: Set<string>[] = [new Set(), new Set()];
    service.mutation = {
      after: (passing) => {
        const sealed = String(passing.headers['x-service-uploadsession']);
        if ((is(passing, CANCEL) || is(passing, COMMIT)) && isOk(passing)) ended?.add(sealed);
        if (!is(passing, BATCH)) return;
        const { commit = [] } = jsonOf(passing.body);
        const { answers = [] } = jsonOf(passing.response.body);
        for (const [at, { status, body }] of answers.entries()) {
          if (status === 201) left?.add(body.passport);
          if (status === 200) ended?.add(commit[at].session);
        }
      },
    };
    await runConform({ ...options, only: 'batch-' });
    assert.ok(left && left.size > 5, `${left?.size} sessions`);
    assert.deepEqual(
      [...left].filter((sealed) => !ended?.has(sealed)),
      [],
    );
  });

  test('refuses small chunks, and can’t complete large ones, whose answer it shows', async () => {
    let count = 0;
    service.mutation = onlyFor(COMMIT, (passing) => {
      count += 1;
      respond(passing, count === 1 ? 422 : 500);
    });
    const { results } = await runConform({ ...options, only: 'commit-status' });
    const found = results.find(({ id }) => id === 'commit-status');
    assert.equal(found?.outcome, 'fail');
    assert.match(JSON.stringify(found), /500/);
    assert.doesNotMatch(JSON.stringify(found), /422/);
  });

  for (const { fault, check, needsAll, ...mutations } of [
    ...UPLOAD_MUTANTS,
    ...ACCESS_MUTANTS,
    ...BATCH_MUTANTS,
  ]) {
    test(fault, async () => {
      service.mutation = mutations.service ?? {};
      storage.mutation = mutations.storage ?? {};
      const report = await runConform({ ...options, only: needsAll ? '' : check, wait: '1' });
      const found = report.results.find(({ id }) => id === check);
      assert.equal(found?.outcome, 'fail', JSON.stringify(found));
      assert.match(reportText(report), new RegExp(`\\nFailed: (?:.*, )?${check}(?:, .*)?\\n\\d+ passed`));
    });
  }
});

test('conform prints no token, even if the service returns it', async () => {
  const server = createServer(({ headers }, response) => {
    const said = JSON.stringify({ debuginfo: `no rights: ${headers.authorization}` });
    response.writeHead(307, { location: `/sign-in?as=${headers.authorization}` }).end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const [token, other] = ['token-of-alice', 'token-of-tom'];
    const report = await runConform({
      ...{ 'base-url': `http://127.0.0.1:${port}`, 'parent-id': 'folder-a', token, 'second-token': other },
    });
    assert.match(JSON.stringify(report), /no rights: Bearer <secret \d+>/);
    assert.doesNotMatch(JSON.stringify(report), /token-of/);
  } finally {
    server.close();
  }
});

describe('conform, for a service that differs from the reference service,', () => {
  let service: OtherService;
  let report: Report;
  before(async () => {
    service = await startOtherService(page);
    report = await runConform({
      ...{ 'base-url': service.baseUrl, 'parent-id': 'inbox', origin: page, token: OTHER_TOKEN },
      ...{ 'session-path': '/uploads', 'chunks-path': '/uploads/chunks', 'commit-path': '/uploads/done' },
      ...{ 'auth-header': 'x-api-key', 'auth-scheme': '', field: 'category=letter' },
    });
  });
  after(() => service.close());

  test('gives no false alarm', () => {
    assert.deepEqual(failuresOf(report), []);
    assert.ok(report.passed > 100, `${report.passed} passed`);
  });

  test('finds the attributes and the profile', () => {
    const storage = new URL(service.baseUrl).origin;
    assert.equal(
      report.html,
      `<secure-uploader
  base-url="${service.baseUrl}"
  parent-id="inbox"
  session-path="/uploads"
  chunks-path="/uploads/chunks"
  auth-header="x-api-key"
  auth-scheme=""
  auth="token"
  batch-size="16"
  upload-origins="${storage}"
  commit-path="/uploads/done"></secure-uploader>`,
    );
    assert.equal(
      report.profile,
      `{
  sessionFields: () => ({"category":"letter"}),
  sessionHeader: ({ body }) => body.data.upload.ticket,
  hashEncoding: 'base64',
  sendSizes: true,
  chunkKey: (hash) => "sha256:" + hash + "",
  emptyFile: 'refuse',
  urlLifetime: (url, entry) => entry.expires_in,
  storedChunk: ({ upload_url }) => upload_url === undefined,
  putStatuses: { 412: 'stored' },
  commitPending: ({ body }) => body?.state === 'processing',
  statuses: { 419: 'token' },
}`,
    );
  });
});

// Wrong paths of the service: what a 404 without `debuginfo` means for an upload, and what is sent again.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { connect } from '../../src/engine/connection.ts';
import { fileOf } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { newStore, replace, type World, type WorldOptions, world } from '../support/world.ts';

/** The answer of something else than the service, or with `debugInfo` of the service itself. */
const notFound = (debugInfo?: string, status = 404): UploaderError =>
  new UploaderError('session-expired', 'not found', { status, debugInfo });

/** An upload whose commits get 404. */
async function uploadWith(
  error: UploaderError,
  { sizeBytes = 2500, ...options }: WorldOptions & { readonly sizeBytes?: number } = {},
): Promise<World> {
  const engine = world({ answers: ['open', 'presign', 'put'], ...options });
  void engine.service.serve('commit', (commit) => commit.refuse(error));
  await engine.uploader.addFiles([fileOf(1, sizeBytes, 'a.bin')]);
  return engine;
}

const sent = ({ service }: World): number[] => [service.count('open'), service.puts.length];

describe('a commit that gets a 404 without `debuginfo`', () => {
  it('while its session can be used fails the file, and sends nothing again', async () => {
    const engine = await uploadWith(notFound());
    engine.service.isForgetful = true;
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error).to.deep.equal({
      code: 'service-not-found',
      retryable: true,
      status: 404,
    });
    await engine.uploader.retry();
    await engine.waitForChange('upload-failed', 2);
    expect(sent(engine)).to.deep.equal([1, 3]);
  });

  it('continues with the commit alone on a page whose path is right', async () => {
    const store = newStore();
    const first = await uploadWith(notFound(), { store });
    await first.waitForChange('upload-failed');
    await first.uploader.close();
    const engine = world({ store });
    await until(() => engine.row('a.bin')?.pauseReason === 'needs-file');
    engine.service.isForgetful = true;
    engine.service.answerAll('open', 'presign', 'put');
    void engine.service.serve('commit', (commit) => commit.answer({ missing: [] }));
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.waitForChange('upload-completed');
    expect(sent(engine)).to.deep.equal([0, 0]);
  });

  it('asks for the session again after an outage, and sends nothing before it is known', async () => {
    const engine = await uploadWith(notFound(), { policy: { baseMs: 0, capMs: 0 } });
    await until(() => engine.service.count('commit') === 1);
    engine.service.hold('presign');
    for (let count = 0; count < 3; count += 1)
      (await engine.service.nextRequest('presign')).refuse(new UploaderError('network', 'no answer'));
    (await engine.service.nextRequest('presign')).answer();
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error?.code).to.equal('service-not-found');
    expect(sent(engine)).to.deep.equal([1, 3]);
  });

  for (const [name, error] of [
    ['404', notFound('gone')],
    ['404 without `debuginfo`', notFound()],
    ['second 401', new UploaderError('token-rejected', 'no', { status: 401 })],
    ['403', new UploaderError('forbidden', 'no', { status: 403 })],
  ] as const)
    it(`opens a new session if a presign request in its session gets a ${name}`, async () => {
      const engine = world({ answers: ['open', 'presign', 'put'] });
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      const first = await engine.service.nextRequest('commit');
      engine.service.hold('presign');
      first.refuse(notFound());
      await engine.service.refuseAll('commit', notFound(), 3);
      (await engine.service.nextRequest('presign')).refuse(error);
      engine.service.answerAll();
      await engine.waitForChange('upload-completed');
      expect(sent(engine)).to.deep.equal([2, 3]);
    });

  it('is not asked for with a file without chunks, which fails in the same way', async () => {
    const engine = await uploadWith(notFound(), { sizeBytes: 0 });
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error?.code).to.equal('service-not-found');
    expect(engine.service.count('presign')).to.equal(0);
  });
});

for (const [name, error] of [
  ['404 with `debuginfo`', notFound('the session is closed')],
  ['410', notFound(undefined, 410)],
] as const)
  it(`a commit that gets a ${name} opens a new session, without asking for the old one`, async () => {
    const engine = await uploadWith(error);
    await engine.waitForChange('upload-failed');
    expect(engine.row('a.bin')?.error?.code).to.equal('session-expired');
    expect(engine.service.count('open')).to.equal(2);
  });

it('a service that accepted a commit and then answers 404 without `debuginfo` has lost the session', async () => {
  const engine = world({ answers: ['open', 'presign', 'put'] });
  await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  (await engine.service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 0 } });
  const asked = engine.service.count('presign');
  await engine.service.refuseAll('commit', notFound());
  engine.service.answerAll('commit');
  await engine.waitForChange('upload-completed');
  expect(sent(engine)).to.deep.equal([2, 3]);
  expect(engine.service.count('presign')).to.be.greaterThan(asked);
});

it('presign requests that get 404 without `debuginfo` in two sessions fail the file before a byte is sent', async () => {
  const engine = world({ answers: ['open', 'put'] });
  void engine.service.serve('presign', (presign) => presign.refuse(notFound()));
  await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  await engine.waitForChange('upload-failed');
  expect(engine.row('a.bin')?.error?.code).to.equal('service-not-found');
  expect(sent(engine)).to.deep.equal([2, 0]);
});

describe('a service that signs upload URLs with http', () => {
  it('fails the file with its first answer, and the console says why', () =>
    captureWarnings(async (warnings) => {
      let presignCount = 0;
      replace(globalThis, 'fetch', async (input: RequestInfo, init?: RequestInit) => {
        const request = new Request(input, init);
        if (!request.url.endsWith('/chunks')) return Response.json({ session_id: 'session-1' });
        presignCount += 1;
        const { hashes } = (await request.json()) as { hashes: string[] };
        const entry = { receipt: 'r', upload_url: 'http://storage.test:9000/a/b?X-Amz-Signature=secret' };
        return Response.json({ chunks: Object.fromEntries(hashes.map((hash) => [hash, entry])) });
      });
      const engine = world({
        noResume: true,
        cancelPath: undefined,
        uploadOrigins: 'https://storage.test:9000',
        connect,
      });
      await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
      await engine.waitForChange('upload-failed');
      expect(engine.row('a.bin')?.error?.code).to.equal('bad-config');
      expect(presignCount).to.equal(1);
      expect(warnings).to.deep.equal([
        'secure-uploader: The upload URL http://storage.test:9000/… must use https',
      ]);
    }));
});

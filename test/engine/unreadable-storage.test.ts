// A storage whose responses the page may not read (missing CORS headers), and outages that look similar. Runs against the
// reference service.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { addFault, findReference, logOf } from '../service/reference.ts';
import { freshFile, sha256 } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { newStore, world } from '../support/world.ts';

const MIB = 2 ** 20;
const FOR_EVER = { times: -1 };

async function createEngine(settings: SettingsInput = {}) {
  const { uploader } = await world({ service: 'reference', ...settings });
  const failures: object[] = [];
  uploader.on('upload-failed', ({ code, retryable }) => failures.push({ code, retryable }));
  const phase = (fileName: string) => uploader.snapshot.files.find(({ name }) => name === fileName)?.phase;
  return { failures, phase, uploader };
}

const putCount = async (fileName: string): Promise<number> =>
  (await logOf({ fileName })).filter(({ operation }) => operation === 'put').length;

/** Uploads a file of one chunk, and waits until the upload fails. Returns the warnings on the console. */
async function failAlone(file: File, engine: Awaited<ReturnType<typeof createEngine>>): Promise<string[]> {
  let seen: string[] = [];
  await captureWarnings(async (warnings) => {
    await engine.uploader.addFiles([file]);
    await until(() => engine.phase(file.name) === 'failed');
    seen = [...warnings];
  });
  return seen;
}

const UNREADABLE = [{ code: 'storage-unreadable', retryable: true }];

describe('a storage without CORS', () => {
  for (const [what, operation, count] of [
    ['that rejects preflights', 'preflight', 0],
    ['that hides only the response to a PUT', 'put', 3],
  ] as const)
    it(`${what} fails the file after three attempts, with one line on the console`, async () => {
      const file = freshFile(1000);
      await addFault({
        operation,
        status: 403,
        withoutCors: true,
        match: { fileName: file.name },
        ...FOR_EVER,
      });
      const engine = await createEngine();
      const warnings = await failAlone(file, engine);
      expect(engine.failures).to.deep.equal(UNREADABLE);
      expect(await putCount(file.name)).to.equal(count);
      const { storageUrl } = await findReference();
      expect(warnings).to.have.length(1);
      expect(warnings[0])
        .to.include(new URL(storageUrl).origin)
        .and.include('CORS')
        .and.include('1000 bytes');
    });

  it('is found out with smaller chunks, too, before a large file fails', async () => {
    const file = freshFile(4 * MIB);
    const fault = { operation: 'preflight', status: 403, withoutCors: true, match: { fileName: file.name } };
    await addFault({ ...fault, ...FOR_EVER });
    const engine = await createEngine({ chunkSize: '4MiB' });
    await failAlone(file, engine);
    expect(engine.failures).to.deep.equal(UNREADABLE);
    const operations = (await logOf({ fileName: file.name })).map(({ operation }) => operation);
    expect(operations.filter((operation) => operation === 'session')).to.have.length(3);
    expect(operations).not.to.include('put');
  });

  it('writes one line for many parallel chunks and a retry', async () => {
    const file = freshFile(12 * 65_536);
    const fault = { operation: 'put', status: 403, withoutCors: true, match: { fileName: file.name } };
    await addFault({ ...fault, ...FOR_EVER });
    const engine = await createEngine({ concurrency: 6 });
    await captureWarnings(async (warnings) => {
      await engine.uploader.addFiles([file]);
      await until(() => engine.failures.length === 1);
      await engine.uploader.retry();
      await until(() => engine.failures.length === 2);
      expect(warnings).to.have.length(1);
    });
    expect(engine.failures).to.deep.equal([...UNREADABLE, ...UNREADABLE]);
  });

  it('loses nothing: a retry completes the file once the responses are readable', async () => {
    const file = freshFile(1000);
    const fault = { operation: 'put', status: 403, withoutCors: true, match: { fileName: file.name } };
    await addFault({ ...fault, times: 3 });
    const engine = await createEngine();
    await failAlone(file, engine);
    expect(engine.failures).to.deep.equal(UNREADABLE);
    await engine.uploader.retry();
    await until(() => engine.phase(file.name) === 'done');
  });

  it('fails further files after one attempt each, without another line', async () => {
    const [first, second] = [freshFile(1000), freshFile(1000)];
    const engine = await createEngine();
    for (const { name: fileName } of [first, second])
      await addFault({ operation: 'put', status: 403, withoutCors: true, match: { fileName }, ...FOR_EVER });
    await failAlone(first, engine);
    expect(await failAlone(second, engine)).to.deep.equal([]);
    expect(engine.failures).to.deep.equal([...UNREADABLE, ...UNREADABLE]);
    expect(await putCount(second.name)).to.equal(1);
  });
});

/** Uploads `stored` with a new engine. All PUTs of `rejected` will get the status, without CORS headers. */
async function storeFirst(stored: File, rejected: File, status: number) {
  const match = { fileName: rejected.name };
  await addFault({ operation: 'put', status, withoutCors: true, match, ...FOR_EVER });
  const engine = await createEngine();
  await engine.uploader.addFiles([stored]);
  await until(() => engine.phase(stored.name) === 'done');
  return engine;
}

describe('a proxy that rejects large chunks without CORS', () => {
  it('is reported with both sizes after a smaller chunk was stored', async () => {
    // A body of this size is sent at once. With a larger body, the connection may end in the middle, as in an outage.
    const [small, large] = [freshFile(1000), freshFile(65_536)];
    const engine = await storeFirst(small, large, 413);
    const warnings = await failAlone(large, engine);
    expect(engine.failures).to.deep.equal(UNREADABLE);
    expect(await putCount(large.name)).to.equal(3);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('65536 bytes').and.include('readable: 1000)').and.include('chunk-size');
  });
});

describe('an outage of the storage', () => {
  it('that nothing gets through is a network error after all attempts', async () => {
    const file = freshFile(1000);
    const match = { hash: await sha256(file) };
    for (const operation of ['put', 'other'])
      await addFault({ operation, cut: 'before-body', match, ...FOR_EVER });
    const engine = await createEngine();
    const [warning, ...others] = await failAlone(file, engine);
    expect(warning).to.match(
      /^secure-uploader: No answer from http:\/\/[\d.:]+\. Check the upload_url of the service, CORS and connect-src\.$/,
    );
    expect(others).to.deep.equal([]);
    expect(engine.failures).to.deep.equal([{ code: 'network', retryable: true }]);
    expect(await putCount(file.name)).to.be.at.least(5);
  });

  it('after a chunk of that size was stored is a network error after all attempts', async () => {
    const [first, second] = [freshFile(1000), freshFile(1000)];
    const engine = await storeFirst(first, second, 502);
    expect(await failAlone(second, engine)).to.deep.equal([]);
    expect(engine.failures).to.deep.equal([{ code: 'network', retryable: true }]);
    expect(await putCount(second.name)).to.equal(5);
  });

  it('that ends after two attempts does not fail the file', async () => {
    const file = freshFile(1000);
    await addFault({
      operation: 'put',
      status: 502,
      withoutCors: true,
      match: { fileName: file.name },
      times: 2,
    });
    const engine = await createEngine();
    await engine.uploader.addFiles([file]);
    await until(() => engine.phase(file.name) === 'done');
    expect(await putCount(file.name)).to.equal(3);
  });

  it('on the next visit does not fail a file of which a chunk of that size is stored', async () => {
    const file = freshFile(4 * 65_536);
    const match = { fileName: file.name };
    const store = newStore();
    await addFault({ operation: 'put', skip: 1, stall: true, match });
    const first = await world({ service: 'reference', concurrency: 1, store });
    await first.uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.stored.size === 1 && (await putCount(file.name)) === 2);
    await first.uploader.close();
    await addFault({ operation: 'put', status: 502, withoutCors: true, match, times: 4 });
    const { changeNames, uploader } = await world({ service: 'reference', concurrency: 1, store });
    await until(() => uploader.snapshot.files.length === 1);
    await uploader.addFiles([file]);
    await until(() => ['done', 'failed'].includes(uploader.snapshot.files[0]?.phase ?? ''));
    expect(changeNames()).not.to.include('upload-failed');
    expect(uploader.snapshot.files[0]?.phase).to.equal('done');
    expect(await putCount(file.name)).to.equal(2 + 4 + 3);
  });
});

// Chunks whose connection is cut in the middle, as by a proxy that limits the time of a request.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Put } from '../../src/core/types.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, until } from '../support/collect.ts';
import { recordOf, setUpRun } from '../support/running.ts';

type Running = ReturnType<typeof setUpRun>;

const cut = (): UploaderError => new UploaderError('network', 'cut');

/** Sets up a run in which `failure` may return the error of a PUT, half of which is then sent. */
function setUpCuts(
  file: File,
  given: Parameters<typeof setUpRun>[1],
  failure: (body: Blob, attempt: number) => Error | undefined,
): Running & { readonly sizes: number[] } {
  const sizes: number[] = [];
  const attempts = new Map<string, number>();
  const put: Put = async (upload, body, options) => {
    const { pathname } = new URL(upload.url);
    const attempt = (attempts.get(pathname) ?? 0) + 1;
    attempts.set(pathname, attempt);
    sizes.push(body.size);
    const error = failure(body, attempt);
    if (!error) return run.service.put(upload, body, options);
    options.onProgress?.(Math.floor(body.size / 2));
    throw error;
  };
  const run: Running = setUpRun(file, { policy: { baseMs: 1, capMs: 2 }, minChunkBytes: 1, put, ...given });
  run.service.answerAll();
  return Object.assign(run, { sizes });
}

const halved = ({ reported }: Running): string[] => reported.filter((line) => line.startsWith('chunks of'));

describe('a chunk that is cut in the middle', () => {
  it('is sent four times, and then in halves, until they get through', async () => {
    const run = setUpCuts(fileOf(70, 1000), {}, ({ size }) => (size > 250 ? cut() : undefined));
    const { chunks } = await run.start();
    expect(chunks.map(({ sizeBytes }) => sizeBytes)).to.deep.equal([250, 250, 250, 250]);
    expect(run.sizes.filter((size) => size === 1000)).to.have.length(4);
    expect(halved(run)).to.deep.equal(['chunks of 500 after 1000', 'chunks of 250 after 500']);
  });

  it('is halved after four cuts that the browser reports, too', async () => {
    let change = new AbortController();
    const run = setUpCuts(
      fileOf(75, 1000),
      // A cut by the browser is repeated without a delay.
      { connectionChange: () => change.signal, policy: { attempts: 1, baseMs: 1e9, capMs: 1e9 } },
      ({ size }, attempt) => {
        if (size <= 500 || attempt > 9) return undefined;
        const before = change;
        change = new AbortController();
        before.abort();
        return cut();
      },
    );
    const { chunks } = await run.start();
    expect(chunks.map(({ sizeBytes }) => sizeBytes)).to.deep.equal([500, 500]);
    expect(run.sizes.filter((size) => size === 1000)).to.have.length(4);
    expect(halved(run)).to.deep.equal(['chunks of 500 after 1000']);
  });

  it('counts as an attempt from the fourth such cut on if an earlier visit has stored a chunk of this size', async () => {
    const file = fileOf(78, 2000);
    let change = new AbortController();
    const run = setUpCuts(
      file,
      { connectionChange: () => change.signal, policy: { attempts: 1 } },
      (_body, attempt) => {
        if (attempt > 9) return undefined;
        const aborted = change;
        change = new AbortController();
        aborted.abort();
        return cut();
      },
    );
    run.keeper.records.set(file.name, await recordOf(file, [1]));
    expect(await rejection<UploaderError>(run.start())).to.include({ code: 'network' });
    expect(run.sizes).to.deep.equal([1000, 1000, 1000, 1000]);
    expect(halved(run)).to.deep.equal([]);
  });

  it('is not halved if the network changes before its first byte, or after its last one', async () => {
    for (const sentBytes of [0, 1000]) {
      let change = new AbortController();
      let isThrough = false;
      let attemptCount = 0;
      const put: Put = async (upload, body, options) => {
        attemptCount += 1;
        isThrough ||= attemptCount > 9;
        if (isThrough) return run.service.put(upload, body, options);
        options.onProgress?.(sentBytes);
        const before = change;
        change = new AbortController();
        before.abort();
        throw cut();
      };
      const given = { minChunkBytes: 1, put, connectionChange: () => change.signal };
      const run: Running = setUpRun(fileOf(76, 1000), given);
      run.service.answerAll();
      const { chunks } = await run.start();
      expect(chunks.map(({ sizeBytes }) => sizeBytes)).to.deep.equal([1000]);
      expect(halved(run)).to.deep.equal([]);
    }
  });

  it('is not halved if an earlier visit has stored a chunk of this size', async () => {
    const file = fileOf(71, 2000);
    const run = setUpCuts(file, {}, (_body, attempt) => (attempt <= 6 ? cut() : undefined));
    run.keeper.records.set(file.name, await recordOf(file, [1]));
    const { chunks } = await run.start();
    expect(chunks.map(({ sizeBytes }) => sizeBytes)).to.deep.equal([1000, 1000]);
    expect(halved(run)).to.deep.equal([]);
  });

  it('is halved if an earlier visit has stored only the short last chunk', async () => {
    const file = fileOf(72, 1010);
    const run = setUpCuts(file, {}, ({ size }) => (size > 505 ? cut() : undefined));
    run.keeper.records.set(file.name, await recordOf(file, [1]));
    await run.start();
    expect(halved(run)).to.deep.equal(['chunks of 500 after 1000']);
  });

  it('is sent again without end if halves would be more than ten thousand chunks', async () => {
    let isThrough = false;
    const run = setUpCuts(fileOf(73, 10_001), { chunkSizeBytes: 2 }, (_body, attempt) => {
      isThrough ||= attempt > 9;
      return isThrough ? undefined : cut();
    });
    const running = rejection(run.start());
    await until(() => isThrough);
    expect(halved(run)).to.deep.equal([]);
    run.controller.abort('enough');
    expect(await running).to.equal('enough');
  });

  it('and then refused fails the file, and keeps the chunks that are stored', async () => {
    const refused = new UploaderError('upload-refused', 'no', { status: 403 });
    const run = setUpCuts(fileOf(74, 2010), {}, ({ size }, attempt) => {
      if (size === 10) return undefined;
      return attempt <= 4 ? cut() : refused;
    });
    const file = run.open.file as File;
    run.keeper.records.set(file.name, await recordOf(file, [1]));
    expect(await rejection(run.start())).to.equal(refused);
    expect(halved(run)).to.deep.equal([]);
    expect(run.service.count('open')).to.equal(0);
  });
});

describe('a chunk whose response is unreadable, before any byte was sent', () => {
  const unreadable = (): UploaderError => new UploaderError('storage-unreadable', 'no CORS');
  const setUpUnreadable = (aboveBytes: number): Running => {
    const put: Put = async (upload, body, options) => {
      if (body.size > aboveBytes) throw unreadable();
      return run.service.put(upload, body, options);
    };
    const run: Running = setUpRun(fileOf(77, 1000), { minChunkBytes: 200, put });
    run.service.answerAll();
    return run;
  };

  it('is halved until the responses are readable', async () => {
    const { chunks } = await setUpUnreadable(300).start();
    expect(chunks.map(({ sizeBytes }) => sizeBytes)).to.deep.equal([250, 250, 250, 250]);
  });

  it('fails the file if those to the smallest chunks are unreadable, too', async () => {
    const run = setUpUnreadable(0);
    expect(await rejection<UploaderError>(run.start())).to.include({ code: 'storage-unreadable' });
    expect(halved(run)).to.deep.equal([
      'chunks of 500 after 1000',
      'chunks of 250 after 500',
      'chunks of 200 after 250',
    ]);
  });
});

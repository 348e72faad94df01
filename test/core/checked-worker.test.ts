// Workers of dist/cdn, whose code is a part with a known hash: when they run from it, and when from their file.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { workerStarter } from '../../src/core/start-worker.ts';
import { HASH_WORKER } from '../../src/pipeline/hash-workers.ts';
import { forever, urlOf } from '../pipeline/pools.ts';
import { rejection } from '../support/collect.ts';
import { requestedBy } from '../support/requested.ts';
import { replace } from '../support/world.ts';

const LONG_MS = 600_000;

describe('a worker whose text is checked, and whose file is not', () => {
  const file = `worker ${location.origin}/src/pipeline/hash.worker.js`;
  const checked = { ...HASH_WORKER, isTextChecked: true };
  const kinds = (requested: readonly string[]): string[] =>
    requested.map((each) => each.replace(/blob:.*/, 'blob:'));

  /** Calls `work` while workers from Blobs can't start; with `isByPolicy`, because of the policy of the page. */
  async function withoutBlobs(
    disposition: 'enforce' | 'report' | undefined,
    work: () => Promise<void>,
    effectiveDirective = 'worker-src',
  ) {
    const { Worker } = globalThis;
    // Only the browser can dispatch a trusted event.
    let report: (event: object) => void = () => undefined;
    const listen = document.addEventListener.bind(document);
    document.addEventListener = (type: string, listener: never, ...rest: never[]) => {
      if (type === 'securitypolicyviolation') report = listener;
      else listen(type, listener, ...rest);
    };
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        const isBlob = String(url).startsWith('blob:');
        super(isBlob ? '/no-such-worker.js' : url, options);
        if (isBlob && disposition)
          report({ isTrusted: true, blockedURI: 'blob', disposition, effectiveDirective });
      }
    };
    try {
      await work();
    } finally {
      globalThis.Worker = Worker;
      Reflect.deleteProperty(document, 'addEventListener');
    }
  }

  it('runs from its text', async () => {
    const requested = await requestedBy(async () =>
      (await workerStarter(checked, LONG_MS)(forever)).terminate(),
    );
    expect(kinds(requested)).to.deep.equal(['worker blob:']);
  });

  for (const [disposition, directive, what] of [
    [undefined, 'worker-src', 'without a policy'],
    ['report', 'worker-src', 'under a policy that only reports'],
    ['enforce', 'img-src', 'under a policy that forbids images from Blobs'],
  ] as const)
    it(`does not run from its file if the text can't start ${what}`, async () => {
      await withoutBlobs(
        disposition,
        async () => {
          const requested = await requestedBy(async () => {
            const error = await rejection<UploaderError>(workerStarter(checked, LONG_MS)(forever));
            expect(error.code).to.equal('hash-failed');
          });
          expect(kinds(requested)).to.deep.equal(['worker blob:']);
        },
        directive,
      );
    });

  for (const [what, text] of [
    ['does not arrive in time', () => new Promise<string>(() => undefined)],
    ['is refused, because it has other bytes', () => Promise.reject(new TypeError('other bytes'))],
  ] as const)
    it(`does not start if its text ${what}`, async () => {
      const start = workerStarter({ ...checked, text }, 20);
      const requested = await requestedBy(() => rejection(start(forever)));
      expect(requested).to.deep.equal([]);
    });

  it('runs from its file if the policy forbids WebAssembly in the Blob, and does not start if it does so in both', async () => {
    const blocked = { ...checked, text: async () => 'postMessage("no-wasm")' };
    const requested = await requestedBy(async () => {
      const start = workerStarter(blocked, LONG_MS);
      for (let count = 0; count < 2; count += 1) (await start(forever)).terminate();
    });
    expect(kinds(requested)).to.deep.equal(['worker blob:', file, file]);
    await (async (url: string) => {
      const error = await rejection<UploaderError>(
        workerStarter({ ...blocked, url: () => url }, LONG_MS)(forever),
      );
      expect(error.message).to.match(/forbids WebAssembly$/);
    })(urlOf('postMessage("no-wasm")'));
  });

  // The last two tests, because the page keeps in mind that its policy forbids Blobs.
  it('runs from its file if the policy of the page forbids workers from Blobs, and says so once', async () => {
    const warnings: unknown[] = [];
    replace(console, 'warn', (text: unknown) => warnings.push(text));
    await withoutBlobs('enforce', async () => {
      const start = workerStarter(checked, LONG_MS);
      const requested = await requestedBy(async () => {
        for (let count = 0; count < 2; count += 1) (await start(forever)).terminate();
      });
      expect(kinds(requested)).to.deep.equal(['worker blob:', file, file]);
    });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('hash.worker.js runs, whose content is not checked');
  });

  it('does not run from a file of another origin, also if the policy forbids Blobs', async () => {
    const foreign = { ...checked, url: () => 'https://cdn.example/hash.worker.js' };
    const warnings: unknown[] = [];
    replace(console, 'warn', (text: unknown) => warnings.push(text));
    await withoutBlobs('enforce', async () => {
      const requested = await requestedBy(() => rejection(workerStarter(foreign, LONG_MS)(forever)));
      expect(requested).to.deep.equal([]);
    });
    expect(warnings).to.deep.equal([]);
  });
});

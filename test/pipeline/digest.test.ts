// Reading and hashing one slice, also if the browser offers no hash functions or the slice cannot be read.

import { expect } from '@open-wc/testing';
import { createHashSlice } from '../../src/pipeline/digest.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';

const request = { algorithm: 'sha-256', keepBytes: false } as const;
const hashSlice = createHashSlice(() => import('../../src/pipeline/wasm-hashes.ts'));

describe('a slice', () => {
  it('is hashed correctly whatever was hashed before in the same memory', async () => {
    for (const sizeBytes of [5000, 0, 100, 5000, 6000, 1]) {
      const slice = new Blob([bytesOf(sizeBytes, sizeBytes)]);
      const [one, other] = await Promise.all(
        [1, 2].map(() => hashSlice({ ...request, slice, keepBytes: true })),
      );
      for (const found of [one, other]) {
        expect(found).to.include({ hash: await sha256(slice) });
        const body = found && 'body' in found ? found.body : undefined;
        expect(await sha256(body ?? new Blob(['none']))).to.equal(await sha256(slice));
      }
    }
    expect(await hashSlice({ ...request, slice: new Blob(['abc']) })).to.have.all.keys('hash');
  });

  it('is hashed without the platform if that offers no hash to the page', async () => {
    const slice = new Blob(['abc']);
    const expected = await sha256(slice);
    Object.defineProperty(crypto, 'subtle', { configurable: true, value: undefined });
    try {
      expect(await hashSlice({ ...request, slice })).to.deep.equal({ hash: expected });
    } finally {
      Reflect.deleteProperty(crypto, 'subtle');
    }
  });

  it('is not hashed, and the error names the file to use, if neither the platform nor hash-wasm can', async () => {
    const found = await createHashSlice()({ ...request, algorithm: 'blake3', slice: new Blob(['abc']) });
    const { error } = found as { error: { name: string; message: string } };
    expect(error).to.include({ name: 'NotSupportedError', isRead: false });
    expect(error.message).to.contain('blake3').and.to.contain('secure-uploader/hash-wasm.worker.js');
  });

  it('that cannot be hashed is distinguished from one that cannot be read', async () => {
    const slice = new Blob(['abc']);
    Object.defineProperty(crypto, 'subtle', {
      configurable: true,
      value: { digest: () => Promise.reject(new DOMException('no', 'OperationError')) },
    });
    try {
      expect(await hashSlice({ ...request, slice })).to.deep.equal({
        error: { name: 'OperationError', message: 'no', isRead: false },
      });
    } finally {
      Reflect.deleteProperty(crypto, 'subtle');
    }
  });

  for (const [thrown, error] of [
    [new DOMException('away', 'NotFoundError'), { name: 'NotFoundError', message: 'away', isRead: true }],
    ['text', { name: 'Error', message: 'text', isRead: true }],
  ] as const)
    it(`that cannot be read (${error.name}) is reported as such`, async () => {
      const slice = Object.assign(new Blob(['abc']), {
        stream: () => {
          throw new TypeError('no stream');
        },
        arrayBuffer: () => Promise.reject(thrown),
      });
      expect(await hashSlice({ ...request, slice })).to.deep.equal({ error });
    });

  it('that is read slowly is reported once a second', async () => {
    let nowMs = 0;
    Object.assign(performance, { now: () => nowMs });
    try {
      const slice = Object.assign(new Blob(['abcdefgh']), {
        stream: () =>
          new ReadableStream({
            type: 'bytes',
            pull(controller) {
              nowMs += 400;
              controller.enqueue(new Uint8Array([nowMs / 400]));
            },
          }),
      });
      const readAtMs: number[] = [];
      await hashSlice({ ...request, slice }, () => readAtMs.push(nowMs));
      // WebKit has no byte streams, so its reads cannot report progress.
      expect(readAtMs).to.deep.equal('ReadableStreamBYOBReader' in globalThis ? [1200, 2400] : []);
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
  });

  it('of which fewer bytes arrive than its size cannot be read', async () => {
    for (const given of [0, 2]) {
      const slice = Object.assign(new Blob(['abc']), {
        stream: () => new Blob(['ab'.slice(0, given)]).stream(),
        arrayBuffer: async () => new ArrayBuffer(given),
      });
      const { error } = (await hashSlice({ ...request, slice })) as { error: object };
      expect(error).to.include({ name: 'NotReadableError', isRead: true });
    }
  });
});

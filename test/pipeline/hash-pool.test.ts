// Hashing with real workers: published vectors, workers that die, hang or cannot start, and files that cannot be read.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import type { HashAlgorithm } from '../../src/core/types.ts';
import { type HashPool, poolSize } from '../../src/pipeline/hash-pool.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { skipTime } from '../support/clock.ts';
import { rejection, settled } from '../support/collect.ts';
import { ascii, createPool, forever, hashOf, oneGood, poolOf } from './pools.ts';

/** Returns the input of BLAKE3's published test vectors: bytes 0, 1, 2 … 250, 0, 1 … */
const counting = (sizeBytes: number): Blob =>
  new Blob([Uint8Array.from({ length: sizeBytes }, (_, at) => at % 251)]);

const VECTORS: readonly [HashAlgorithm, string, Blob, string][] = [
  ['sha-256', 'nothing', ascii(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['sha-256', '"abc"', ascii('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'sha-256',
    '448 bits',
    ascii('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'),
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  [
    'sha-256',
    'a million of "a"',
    ascii('a'.repeat(1_000_000)),
    'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
  ],
  ['blake3', 'nothing', counting(0), 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
  ['blake3', '1 byte', counting(1), '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
  [
    'blake3',
    '1,024 bytes',
    counting(1024),
    '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7',
  ],
  [
    'blake3',
    '1,025 bytes',
    counting(1025),
    'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444',
  ],
  [
    'blake3',
    '102,400 bytes',
    counting(102_400),
    'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085',
  ],
];

describe('the hash of bytes', () => {
  for (const [algorithm, name, bytes, expected] of VECTORS) {
    it(`is the published one: ${algorithm} of ${name}, in a worker`, async () => {
      expect(await hashOf(createPool({ algorithm }).hashSlice, bytes)).to.equal(expected);
    });

    it(`is the published one: ${algorithm} of ${name}, if no worker can run`, async () => {
      const pool = createPool({ algorithm, workerUrl: '/no-such-worker.js' });
      expect(await hashOf(pool.hashSlice, bytes)).to.equal(expected);
    });
  }

  it('comes with the hashed bytes on request', async () => {
    const bytes = bytesOf(1, 5000);
    const slice = new Blob([new Uint8Array(100), bytes]).slice(100);
    const kept = await createPool().hashSlice(slice, { keepBytes: true, signal: forever });
    expect(kept.body?.size).to.equal(5000);
    expect(await sha256(kept.body as Blob)).to.equal(kept.hash);
    const bare = await createPool().hashSlice(slice, { keepBytes: false, signal: forever });
    expect(bare).to.deep.equal({ hash: kept.hash });
  });
});

describe('a hash that the browser does not support on this page', () => {
  it('comes from a worker with hash-wasm', async () => {
    const script = oneGood('');
    expect(await hashOf(poolOf(script, { algorithm: 'blake3' }).hashSlice, ascii('abc'))).to.equal('size 3');
    Object.defineProperty(crypto, 'subtle', { configurable: true, value: undefined });
    try {
      expect(await hashOf(poolOf(script).hashSlice, ascii('abc'))).to.equal('size 3');
    } finally {
      Reflect.deleteProperty(crypto, 'subtle');
    }
  });
});

describe('hash workers', () => {
  it('are as many as useful: two on a small machine, four at most', () => {
    expect([1, 2, 4, 5, 8, 64].map(poolSize)).to.deep.equal([2, 2, 2, 3, 4, 4]);
  });

  it('that die are replaced, and every slice is hashed', async () => {
    const pool = poolOf(oneGood('throw new Error("the worker died");'));
    const slices = [1, 2, 3, 4].map((sizeBytes) => new Blob([new Uint8Array(sizeBytes)]));
    const found = await Promise.all(slices.map((slice) => hashOf(pool.hashSlice, slice)));
    expect(found).to.deep.equal(['size 1', 'size 2', 'size 3', 'size 4']);
  });

  it('that stop responding are replaced, and every slice is hashed', async () => {
    const pool = poolOf(oneGood(''), { size: 1, silenceMs: 500, slowMs: 5 });
    const slices = [1, 2].map((sizeBytes) => new Blob([new Uint8Array(sizeBytes)]));
    const found = await Promise.all(slices.map((slice) => hashOf(pool.hashSlice, slice)));
    expect(found).to.deep.equal(['size 1', 'size 2']);
  });

  it('that all stop responding to the same slice fail it', async () => {
    const pool = poolOf("postMessage('ready');", { silenceMs: 20, slowMs: 5 });
    const error = await rejection<UploaderError>(hashOf(pool.hashSlice, ascii('abc')));
    expect(error.code).to.equal('hash-failed');
  });

  it('that die three times over the same slice fail it, and nothing else', async () => {
    const pool = poolOf(`
      onmessage = ({ data }) => {
        if (data.slice.size === 13) throw new Error('the worker died');
        postMessage({ id: data.id, hash: 'size ' + data.slice.size });
      };
      postMessage('ready');`);
    const bad = rejection<UploaderError>(hashOf(pool.hashSlice, new Blob([new Uint8Array(13)])));
    const good = hashOf(pool.hashSlice, new Blob([new Uint8Array(1)]));
    expect((await bad).code).to.equal('hash-failed');
    expect(await good).to.equal('size 1');
  });

  const unfit: readonly (readonly [string, () => HashPool])[] = [
    ['whose script does not exist', () => createPool({ size: 2, workerUrl: '/no-such-worker.js' })],
    ['whose script has an invalid URL', () => createPool({ size: 2, workerUrl: 'http://[' })],
    [
      'of another origin',
      () => createPool({ size: 2, workerUrl: 'data:text/javascript,postMessage("ready")' }),
    ],
    ['that never report readiness', () => poolOf('0', { size: 2, startMs: 50 })],
  ];
  for (const [name, create] of unfit) {
    it(`${name} leave the work to the page`, async () => {
      const pool = create();
      const slices = [1, 2, 3].map((seed) => new Blob([bytesOf(seed, 1000)]));
      const found = await Promise.all(slices.map((slice) => hashOf(pool.hashSlice, slice)));
      expect(found).to.deep.equal(await Promise.all(slices.map(sha256)));
    });
  }

  it('that could not start are tried again a minute later', async () => {
    const pool = poolOf('close()', { size: 1, startMs: 10 });
    const slice = new Blob([bytesOf(1, 1000)]);
    let startCount = 0;
    const { Worker: RealWorker } = globalThis;
    globalThis.Worker = class extends RealWorker {
      constructor(...given: ConstructorParameters<typeof RealWorker>) {
        super(...given);
        startCount += 1;
      }
    };
    let undo: () => void = () => undefined;
    try {
      while (startCount < 2) await hashOf(pool.hashSlice, slice);
      for (let count = 0; count < 3; count += 1) await hashOf(pool.hashSlice, slice);
      expect(startCount).to.equal(2);
      undo = skipTime(60_001);
      await hashOf(pool.hashSlice, slice);
      expect(startCount).to.equal(3);
    } finally {
      undo();
      globalThis.Worker = RealWorker;
    }
  });

  it('end after an idle time, and start again for new work', async () => {
    const pool = createPool({ idleMs: 1 });
    const slice = new Blob([bytesOf(3, 100)]);
    const first = await hashOf(pool.hashSlice, slice);
    for (let round = 0; round < 10; round += 1) await settled();
    expect(await hashOf(pool.hashSlice, slice)).to.equal(first);
  });

  it('drop an aborted slice, and continue with the next', async () => {
    const controller = new AbortController();
    const pool = createPool();
    const unwanted = pool.hashSlice(new Blob([bytesOf(4, 100)]), {
      keepBytes: false,
      signal: controller.signal,
    });
    const slice = new Blob([bytesOf(5, 100)]);
    const wanted = hashOf(pool.hashSlice, slice);
    controller.abort('canceled');
    expect(await rejection(unwanted)).to.equal('canceled');
    expect(await wanted).to.equal(await sha256(slice));
  });
});

describe('a slice that cannot be read', () => {
  const away = (): { stream: () => ReadableStream<Uint8Array<ArrayBuffer>> } => ({
    stream: () => {
      const source = { type: 'bytes', pull: () => Promise.reject(new Error('The drive is away')) } as const;
      return new ReadableStream(source) as ReadableStream<Uint8Array<ArrayBuffer>>;
    },
  });
  /** Returns a blob whose first `times` reads fail, with an error or with too few bytes. */
  const unreadable = (times: number, how: 'error' | 'short'): Blob & { reads: number } => {
    const slice = Object.assign(new Blob([bytesOf(6, 100)]), { reads: 0 });
    const [stream, read] = [slice.stream.bind(slice), slice.arrayBuffer.bind(slice)];
    // Browsers that can read into a given buffer use `stream()`. Other browsers try `stream()` in vain, then use `arrayBuffer()`.
    slice.stream = () => {
      slice.reads += 1;
      if (slice.reads > times) return stream();
      return (how === 'short' ? new Blob([bytesOf(6, 99)]) : away()).stream();
    };
    slice.arrayBuffer = async () => {
      if (slice.reads > times) return read();
      if (how === 'short') return new ArrayBuffer(99);
      throw new DOMException('The drive is away', 'NotReadableError');
    };
    return slice;
  };

  for (const how of ['error', 'short'] as const) {
    it(`at first is read again once (${how})`, async () => {
      const pool = createPool({ workerUrl: '/no-such-worker.js', readAgainMs: 1 });
      const slice = unreadable(1, how);
      expect(await hashOf(pool.hashSlice, slice)).to.equal(await sha256(new Blob([bytesOf(6, 100)])));
    });

    it(`twice is file-unreadable, and not read a third time (${how})`, async () => {
      const pool = createPool({ workerUrl: '/no-such-worker.js', readAgainMs: 1 });
      const slice = unreadable(9, how);
      expect(await rejection<UploaderError>(hashOf(pool.hashSlice, slice))).to.include({
        code: 'file-unreadable',
      });
      expect(slice.reads).to.equal(2);
    });
  }
});

/** Returns a file that has changed on disk after it was picked. Uses the page's private file system. */
async function changedFile(): Promise<File> {
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle('changed.bin', { create: true });
  const write = async (sizeBytes: number): Promise<void> => {
    const stream = await handle.createWritable();
    await stream.write(new Uint8Array(sizeBytes));
    await stream.close();
  };
  await write(5000);
  const file = await handle.getFile();
  await write(100);
  return file;
}

if ('storage' in navigator && 'getDirectory' in navigator.storage) {
  describe('a file that cannot be read any more', () => {
    for (const [name, workerUrl] of [
      ['in a worker', undefined],
      ['on the page', '/no-such-worker.js'],
    ] as const) {
      it(`fails with file-unreadable, ${name}`, async () => {
        const pool = createPool({ workerUrl });
        const error = await rejection<UploaderError>(hashOf(pool.hashSlice, await changedFile()));
        expect(error.code).to.equal('file-unreadable');
      });
    }
  });
}

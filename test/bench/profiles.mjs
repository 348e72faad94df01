// The measured situations: files, connection, clients. The sink applies the limits of the connection (sink/line.mjs), so the
// limits are equal for every client. Exception: the browser applies `uplink`, as its developer tools do. Over loopback, the system
// would buffer megabytes at once, unlike a slow connection.

const MB = 1e6;
const KB = 1e3;

/** Names of all clients that upload to the sink. The second gets its files from the picker, a second after it has opened. */
const everyone = [
  'secure-uploader',
  'secure-uploader@picker',
  'raw-parallel',
  'pipe-mem',
  'raw-balanced',
  'uppy-s3',
  'uppy-tus',
  'tus-js',
  'upchunk',
];

/** For many files of one chunk, also the clients that share requests among files. */
const everyoneAndBatches = [...everyone, 'secure-uploader@batches', 'raw-batched'];

const sameBatches = {
  client: 'raw-batched',
  why: 'it hashes, and makes the same requests as the widget with batch-path, without a list',
};

const plainRequests = {
  client: 'raw-parallel',
  why: 'the line decides, and plain requests are what it carries',
};

const sameRequests = {
  client: 'raw-balanced',
  why: 'latency decides, and it makes the same calls and cuts as the widget',
};

const BUSY = { taskMs: 200, everyMs: 333 };

/**
 * Profiles by name. Their fields:
 * - `files`: number of files, and bytes of each file.
 * - `beside`: further groups of files, added before `files`. Files of a group with `readBytesPerSecond` are read at this rate in
 *   total; the run ends when all other files are done.
 * - `line`: the connection. `totalBytesPerSecond` limits all connections together, `connectionBytesPerSecond` each one.
 *   `latencyMs` is the latency of every request, including preflights. `cutEveryBytes` is the mean number of received bytes
 *   between two cuts. `refuseEvery: n` responds to every n-th request with a 429. `http2` uses HTTP/2.
 * - `busy`: the page's thread is blocked for `taskMs` of every `everyMs`.
 * - `sign: 'call'`: uppy-s3, upchunk, raw-parallel and pipe-mem request each URL from the service.
 * - `twice`: each client uploads the files once before the timed upload.
 * - `uplink`: the total rate of the page is limited to `bytesPerSecond` for the first `forMs`. Concurrent requests are counted
 *   before and after.
 * - `stopAfterMs`: time after which the upload is stopped; the bytes received by then are the result.
 * - `yardstick`: the client that the others are compared with, and `why`. Without a yardstick, the others are compared with the
 *   fastest client.
 */
export const profiles = {
  loopback: {
    about: 'one file, no limit: processor and disk decide',
    files: { count: 1, sizeBytes: 512 * MB },
    line: {},
    yardstick: {
      client: 'pipe-mem',
      why: 'processor time decides, so only a client that hashes too is comparable',
    },
    clients: [...everyone, 'secure-uploader@service'],
  },
  gbit: {
    about: 'one file, 125 MB/s for all connections together',
    files: { count: 1, sizeBytes: 512 * MB },
    line: { totalBytesPerSecond: 125 * MB },
    yardstick: plainRequests,
    clients: everyone,
  },
  wan: {
    about: 'one file, 40 ms a request, 4 MB/s a connection',
    files: { count: 1, sizeBytes: 128 * MB },
    line: { latencyMs: 40, connectionBytesPerSecond: 4 * MB },
    yardstick: sameRequests,
    clients: everyone,
  },
  far: {
    about: 'one file, 80 ms a request, 60 MB/s for all connections together',
    files: { count: 1, sizeBytes: 512 * MB },
    line: { latencyMs: 80, totalBytesPerSecond: 60 * MB },
    yardstick: sameRequests,
    clients: everyone,
  },
  thin: {
    about: 'one file, 120 ms a request, 2 MB/s a connection',
    files: { count: 1, sizeBytes: 96 * MB },
    line: { latencyMs: 120, connectionBytesPerSecond: 2 * MB },
    yardstick: sameRequests,
    clients: everyone,
  },
  photos: {
    about: '60 files of 4 MB, 40 ms a request, 50 MB/s for all connections together',
    files: { count: 60, sizeBytes: 4 * MB },
    line: { latencyMs: 40, totalBytesPerSecond: 50 * MB },
    sign: 'call',
    yardstick: {
      ...plainRequests,
      why: 'the line decides; raw-balanced makes the calls of each file in series',
    },
    clients: everyoneAndBatches,
  },
  busy: {
    about: 'as photos, on a page whose thread is blocked 60 % of the time, by tasks of 200 ms',
    files: { count: 60, sizeBytes: 4 * MB },
    line: { latencyMs: 40, totalBytesPerSecond: 50 * MB },
    busy: BUSY,
    yardstick: { client: 'raw-balanced@worker', why: 'its requests do not wait for the page' },
    clients: [...everyoneAndBatches, 'raw-balanced@worker'],
  },
  'busy-large': {
    about:
      'one file, 40 ms a request, on a page whose thread is blocked 60 % of the time, by tasks of 200 ms',
    files: { count: 1, sizeBytes: 256 * MB },
    line: { latencyMs: 40, totalBytesPerSecond: 50 * MB },
    busy: BUSY,
    yardstick: { client: 'raw-balanced@worker', why: 'its requests do not wait for the page' },
    clients: [...everyone, 'raw-balanced@worker'],
  },
  small: {
    // No yardstick: the raw clients send six files at a time and make the calls of each file in series. Their speed is not an
    // upper limit.
    about:
      'many small files, 40 ms a request; uppy-s3, upchunk, raw-parallel and pipe-mem ask the service to sign each address',
    files: { count: 1000, sizeBytes: 10 * KB },
    line: { latencyMs: 40 },
    sign: 'call',
    clients: everyoneAndBatches,
  },
  tiny: {
    about: 'many small files, no limit: processor time decides',
    files: { count: 300, sizeBytes: 100 * KB },
    line: {},
    sign: 'call',
    yardstick: sameBatches,
    clients: everyoneAndBatches,
  },
  'tiny-far': {
    about: 'many small files, 80 ms a request',
    files: { count: 300, sizeBytes: 100 * KB },
    line: { latencyMs: 80 },
    sign: 'call',
    yardstick: sameBatches,
    clients: everyoneAndBatches,
  },
  again: {
    about: 'the same file a second time',
    files: { count: 1, sizeBytes: 512 * MB },
    line: { totalBytesPerSecond: 125 * MB },
    twice: true,
    yardstick: { client: 'raw-parallel', why: 'it sends all bytes again' },
    clients: ['secure-uploader', 'raw-parallel', 'uppy-s3', 'tus-js'],
  },
  lossy: {
    about:
      'two files, 40 ms a request, 1 % of what carries 8 MiB is cut (every 838 MB), every 50th request answered 429',
    files: { count: 2, sizeBytes: 1024 * MB },
    line: { latencyMs: 40, totalBytesPerSecond: 100 * MB, cutEveryBytes: 838 * MB, refuseEvery: 50 },
    clients: ['secure-uploader', 'uppy-s3', 'uppy-tus', 'tus-js', 'upchunk'],
  },
  broken: {
    about: 'one file, 40 ms a request, a connection cut every 50 MB or so, every 50th request answered 429',
    files: { count: 1, sizeBytes: 512 * MB },
    line: { latencyMs: 40, totalBytesPerSecond: 50 * MB, cutEveryBytes: 50 * MB, refuseEvery: 50 },
    clients: ['secure-uploader', 'uppy-s3', 'uppy-tus', 'tus-js', 'upchunk'],
  },
  shift: {
    about: 'one file; all connections share 200 kB/s for 20 s, then each has 2 MB/s',
    files: { count: 1, sizeBytes: 192 * MB },
    line: { latencyMs: 40, connectionBytesPerSecond: 2 * MB },
    uplink: { bytesPerSecond: 200 * KB, forMs: 20_000 },
    yardstick: { client: 'raw-parallel', why: 'it uses six connections from the start' },
    clients: ['secure-uploader', 'raw-parallel', 'uppy-s3', 'tus-js'],
  },
  h2: {
    about: 'one file over TLS and HTTP/2, 40 ms a request, 125 MB/s together',
    files: { count: 1, sizeBytes: 512 * MB },
    line: { http2: true, latencyMs: 40, totalBytesPerSecond: 125 * MB },
    yardstick: plainRequests,
    clients: everyone,
  },
  mixed: {
    about:
      'a file of 32 MB that reads at 100 kB/s, 300 of 100 kB, and one of 1 GB: the time until the others are done',
    files: { count: 1, sizeBytes: 1000 * MB },
    beside: [
      { count: 1, sizeBytes: 32 * MB, readBytesPerSecond: 100 * KB },
      { count: 300, sizeBytes: 100 * KB },
    ],
    line: { totalBytesPerSecond: 125 * MB },
    yardstick: { client: 'secure-uploader@fast-disk', why: 'no file is slow there' },
    clients: ['secure-uploader', 'secure-uploader@fast-disk'],
  },
  huge: {
    about: 'one file of 2 GiB, no limit: what memory does',
    files: { count: 1, sizeBytes: 2 * 2 ** 30 },
    line: {},
    yardstick: { client: 'raw-parallel', why: 'what can be sent without hashing' },
    clients: ['secure-uploader', 'raw-parallel', 'uppy-s3', 'tus-js'],
  },
  // Once the file's pages fill the page cache of the machine, the rate of every client halves: only memory can be compared.
  endless: {
    about: 'the first two minutes of a sparse file of 20 GiB: what memory does',
    files: { count: 1, sizeBytes: 20 * 2 ** 30, sparse: true },
    line: { totalBytesPerSecond: 125 * MB },
    stopAfterMs: 120_000,
    yardstick: plainRequests,
    clients: ['secure-uploader', 'raw-parallel'],
  },
};

/**
 * Returns the named profiles; by default `loopback`, `gbit` and `wan`, which decide whether the project is fast enough. Throws on
 * an unknown name.
 */
export function chooseProfiles(names) {
  const chosen = names.length === 0 ? ['loopback', 'gbit', 'wan'] : names;
  const all = chosen.includes('all') ? Object.keys(profiles) : chosen;
  return all.map((name) => {
    if (!Object.hasOwn(profiles, name)) {
      throw new Error(`no profile "${name}"; there are ${Object.keys(profiles).join(', ')}`);
    }
    return { name, ...profiles[name] };
  });
}

/** Returns the bytes of a size such as `512MB`, `8 MiB` or `1000`. Throws on any other text. */
export function parseSize(text) {
  const match = /^\s*([0-9]+(?:\.[0-9]+)?)\s*([kmg]?)(i?)b?\s*$/i.exec(text);
  if (!match) throw new Error(`"${text}" is no size such as 512MB or 8MiB`);
  const step = match[3] ? 1024 : 1000;
  return Math.round(Number(match[1]) * step ** ['', 'k', 'm', 'g'].indexOf(match[2].toLowerCase()));
}

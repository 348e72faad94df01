// Clients for comparison: plain requests without retries, saved state or interface. `raw-parallel` measures the speed of the
// connection. `pipe-mem` also hashes. `raw-balanced` makes the same calls and chunks as the widget, without hashing.
const CHUNK_BYTES = 8 * 2 ** 20;
const LANES = 6;

const put = (url, body) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error(`status ${request.status}`)));
    request.onerror = () => reject(new Error('network'));
    request.send(body);
  });

// Calls `work` for each of `pieces`, in order, six at a time.
async function inLanes(pieces, work) {
  let next = 0;
  const lane = async () => {
    while (next < pieces.length) {
      next += 1;
      await work(pieces[next - 1], next - 1);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const cut = (file, sizeBytes) =>
  Array.from({ length: Math.ceil(file.size / sizeBytes) }, (_, index) =>
    file.slice(index * sizeBytes, Math.min(file.size, (index + 1) * sizeBytes)),
  );

/** Returns an upload that sends slices of 8 MiB, six requests at a time, and does nothing else. */
export const rawParallel =
  ({ address }) =>
  (files) =>
    inLanes(
      files.flatMap((file) => cut(file, CHUNK_BYTES)),
      async (slice, index) => put(await address(`/put/${index}`), slice),
    );

const workerSource = `onmessage = async ({ data: { id, slice } }) => {
  const buffer = await slice.arrayBuffer();
  const digest = await crypto.subtle.digest('SHA-256', buffer);
  const hash = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
  postMessage({ id, hash, bytes: new Blob([buffer]) });
};`;

/** Starts two workers that read and hash slices, and return their bytes as Blobs in memory. Returns `{hash(slice, id), end()}`. */
function startHashing() {
  const script = URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }));
  const workers = [new Worker(script), new Worker(script)];
  const waiting = new Map();
  for (const worker of workers) {
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)(data);
      waiting.delete(data.id);
    };
  }
  const hash = (slice, id) =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      workers[id % workers.length].postMessage({ id, slice });
    });
  const end = () => {
    for (const worker of workers) worker.terminate();
    URL.revokeObjectURL(script);
  };
  return { hash, end };
}

/** Returns an upload like `rawParallel` that also hashes. */
export const pipeMem =
  ({ address }) =>
  async (files) => {
    const { hash, end } = startHashing();
    const slices = files.flatMap((file) => cut(file, CHUNK_BYTES));
    await inLanes(slices, async (slice, index) => {
      const hashed = await hash(slice, index);
      await put(await address(`/put/${hashed.hash}`), hashed.bytes);
    });
    end();
  };

const MIB = 2 ** 20;

// Returns the widget's chunk size (src/pipeline/plan.ts): equal chunks that fill six connections in each round.
function balancedBytes(sizeBytes) {
  const rounds = Math.ceil(sizeBytes / (60 * MIB));
  if (rounds > 8) return 8 * MIB;
  const count = sizeBytes < 30 * MIB ? Math.max(1, Math.floor(sizeBytes / (5 * MIB))) : 6 * rounds;
  const step = MIB / 4;
  return Math.max(step, Math.ceil(sizeBytes / count / step) * step);
}

const randomHash = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

const callsOf =
  ({ service, token }) =>
  async (path, body, session) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    if (session) headers['x-service-uploadsession'] = session;
    const answer = await fetch(service + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
    return answer.json();
  };

/**
 * Returns an upload with the widget's chunks and its session, presign and commit calls, but with random hashes. Its speed is an
 * upper limit for uploads with these calls and chunks.
 */
export const rawBalanced = (place) => {
  const call = callsOf(place);
  const open = async (file, slices) => {
    const asked = { parent_id: 'folder-a', file_name: file.name, file_size: file.size };
    const { session_id: session } = await call('/files/uploadsession', asked);
    const hashes = slices.map(randomHash);
    const { chunks } = await call('/files/uploadsession/chunks', { hashes }, session);
    const commit = () => {
      const receipts = hashes.map((hash) => chunks[hash].receipt);
      return call('/files/uploadsession/commit', { hashes, receipts }, session);
    };
    return { urls: hashes.map((hash) => chunks[hash].upload_url), commit };
  };
  const one = async (file, lanes) => {
    const slices = cut(file, balancedBytes(file.size));
    const { urls, commit } = await open(file, slices);
    await lanes(slices, (slice, index) => put(urls[index], slice));
    await commit();
  };
  const inTurn = async (slices, work) => {
    for (const [index, slice] of slices.entries()) await work(slice, index);
  };
  return (files) =>
    files.length === 1 ? one(files[0], inLanes) : inLanes(files, (file) => one(file, inTurn));
};

const BATCH_FILES = 64;

/**
 * Returns an upload that hashes like `pipeMem`, and opens and commits files of one chunk in batches of 64, as the widget does with
 * `batch-path`. Each batch is opened while the one before it is sent.
 */
export const rawBatched = (place) => {
  const call = callsOf(place);
  const batch = async (body) => {
    const { answers } = await call('/files/uploadsession/batch', body);
    const refused = answers.find(({ status }) => status >= 300);
    if (refused) throw new Error(`batch: status ${refused.status}`);
    return answers.map((answer) => answer.body);
  };
  return async (files) => {
    const { hash, end } = startHashing();
    const open = async (group) => {
      const hashed = await Promise.all(group.map(hash));
      const fieldsOf = (file, index) => ({
        parent_id: 'folder-a',
        file_name: file.name,
        file_size: file.size,
        hashes: [hashed[index].hash],
      });
      const sessions = await batch({ open: group.map(fieldsOf) });
      return hashed.map((file, index) => ({ ...file, ...sessions[index] }));
    };
    const commitOf = ({ hash: own, session_id: session, chunks }) => ({
      session,
      hashes: [own],
      receipts: [chunks[own].receipt],
    });
    const commits = [];
    let opening = open(files.slice(0, BATCH_FILES));
    for (let sent = 0; sent < files.length; sent += BATCH_FILES) {
      const opened = await opening;
      opening = open(files.slice(sent + BATCH_FILES, sent + 2 * BATCH_FILES));
      await inLanes(opened, ({ hash: own, bytes, chunks }) => put(chunks[own].upload_url, bytes));
      commits.push(batch({ commit: opened.map(commitOf) }));
    }
    await Promise.all(commits);
    end();
  };
};

/** Returns the upload of `rawBalanced`, which runs in a worker. Its speed is an upper limit for requests that a worker makes. */
export const rawBalancedInWorker = ({ service, token }) => {
  const worker = new Worker('/raw-worker.js');
  return async (files) => {
    const answered = new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
    });
    worker.postMessage({ place: { service, token }, files });
    const { error } = await answered;
    worker.terminate();
    if (error) throw new Error(error);
  };
};

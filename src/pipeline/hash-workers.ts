// The two hash workers. In `dist/cdn`, `src/cdn/hash-workers.ts` takes the place of this module.

import { WorkerAddress, type WorkerCode } from '../core/start-worker.ts';

/** SHA-256 with `crypto.subtle`. */
export const HASH_WORKER: WorkerCode = {
  name: 'secure-uploader-hash',
  url: (Worker = WorkerAddress) =>
    new Worker(new URL('./hash.worker.js', import.meta.url), { type: 'module' }).url,
  // Many bundlers copy no file of this kind.
  text: async () => (await import('./worker-source.ts')).default,
};

/** All hashes, with hash-wasm. */
export const HASH_WASM_WORKER: WorkerCode = {
  name: 'secure-uploader-hash',
  url: (Worker = WorkerAddress) =>
    new Worker(new URL('./hash-wasm.worker.js', import.meta.url), { type: 'module' }).url,
};

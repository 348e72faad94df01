// The two hash workers in `dist/cdn`: their code as text, in the part of the engine, and in a part of its own. The first file has
// the hashes of both parts.

import type { WorkerCode } from '../core/start-worker.ts';
// Each upload needs this worker, and its own part would arrive a round trip later.
import hashWorker from '../pipeline/hash.worker.ts?code';
import { besideFirstFile } from './part-loader.ts';

export const HASH_WORKER: WorkerCode = {
  name: 'secure-uploader-hash',
  url: () => besideFirstFile('hash.worker.js'),
  text: async () => hashWorker,
  isTextChecked: true,
};

export const HASH_WASM_WORKER: WorkerCode = {
  name: 'secure-uploader-hash',
  url: () => besideFirstFile('hash-wasm.worker.js'),
  text: async () => (await import('../pipeline/hash-wasm.worker.ts?code')).default,
  isTextChecked: true,
};

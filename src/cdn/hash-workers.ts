// The two hash workers in `dist/cdn`: parts with the code as text, whose hashes the first file has.

import type { WorkerCode } from '../core/start-worker.ts';
import { besideFirstFile } from './part-loader.ts';

export const HASH_WORKER: WorkerCode = {
  name: 'secure-uploader-hash',
  url: () => besideFirstFile('hash.worker.js'),
  text: async () => (await import('../pipeline/hash.worker.ts?code')).default,
  isTextChecked: true,
};

export const HASH_WASM_WORKER: WorkerCode = {
  name: 'secure-uploader-hash',
  url: () => besideFirstFile('hash-wasm.worker.js'),
  text: async () => (await import('../pipeline/hash-wasm.worker.ts?code')).default,
  isTextChecked: true,
};

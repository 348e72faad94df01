// The worker for photos. In `dist/cdn`, `src/cdn/photo-worker.ts` takes the place of this module.

import { WorkerAddress, type WorkerCode } from '../core/start-worker.ts';

export const PHOTO_WORKER: WorkerCode = {
  name: 'secure-uploader-photos',
  url: (Worker = WorkerAddress) =>
    new Worker(new URL('./photo.worker.js', import.meta.url), { type: 'module' }).url,
};

// The worker for photos in `dist/cdn`: a part with the code as text, whose hash the first file has.

import type { WorkerCode } from '../core/start-worker.ts';
import { besideFirstFile } from './part-loader.ts';

export const PHOTO_WORKER: WorkerCode = {
  name: 'secure-uploader-photos',
  url: () => besideFirstFile('photo.worker.js'),
  text: async () => (await import('../photos/photo.worker.ts?code')).default,
  isTextChecked: true,
};

// The first file of `dist/cdn`, for pages without a bundler: defines the element. `scripts/cdn-parts.mjs` adds the list of parts,
// and gives it to `createPartLoader`.

export { SecureUploader } from '../define.ts';
export { createPartLoader } from './part-loader.ts';

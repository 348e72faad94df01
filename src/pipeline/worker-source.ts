// The code of `hash.worker.ts` as text. `scripts/build.mjs` writes this module of the package.

export { default } from './hash.worker.ts?code';

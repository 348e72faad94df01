// Exports only the hashes that are used, so that a bundle does not contain the whole library.
export { blake3, sha256 } from 'hash-wasm';

// The two hashes that are taken from hash-wasm, named here so that a bundle carries these and not the whole library.
export { blake3, sha256 } from 'hash-wasm';

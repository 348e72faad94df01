// Contains only the hashes that are used, so that a bundle does not contain the whole library.

import { createSHA256, type IHasher } from 'hash-wasm';

export { blake3, sha256 } from 'hash-wasm';

let hasher: Promise<IHasher> | undefined;

/**
 * Continues the SHA-256 of a file with its next bytes. `state` is the state after the bytes before; empty at the start of the file.
 * Resolves with the new state, and with the hash of all bytes until here.
 */
export async function continueSha256(
  state: Uint8Array,
  bytes: Uint8Array,
): Promise<{ state: Uint8Array; hash: string }> {
  hasher ??= createSHA256();
  const sha = await hasher;
  if (state.length > 0) sha.load(state);
  else sha.init();
  sha.update(bytes);
  return { state: sha.save(), hash: sha.digest() };
}

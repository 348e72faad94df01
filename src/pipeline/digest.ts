// Reads a slice, and hashes bytes in memory (lower-case hex); used in the worker, and on the page where no worker can run.

import type { HashAlgorithm } from '../core/types.ts';

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The platform's SHA-256 where it may be used, else hash-wasm, which is fetched only then. */
export async function digest(bytes: ArrayBuffer, algorithm: HashAlgorithm): Promise<string> {
  if (algorithm === 'sha-256' && globalThis.crypto?.subtle) {
    return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  }
  const { blake3, sha256 } = await import('./wasm-hashes.ts');
  return algorithm === 'blake3' ? blake3(new Uint8Array(bytes)) : sha256(new Uint8Array(bytes));
}

/** All bytes of a slice. Rejects where it cannot be read, also where fewer came than it had when it was picked. */
export async function readWhole(slice: Blob): Promise<ArrayBuffer> {
  const bytes = await slice.arrayBuffer();
  if (bytes.byteLength === slice.size) return bytes;
  throw new DOMException('The slice is shorter than it was', 'NotReadableError');
}

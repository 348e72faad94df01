// Reads and hashes a slice. Runs in the worker, or on the page if no worker can run.

import type { HashAlgorithm } from '../core/types.ts';

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Result of hashing. `hash` is lowercase hex. `isRead` is true if reading failed, and false if hashing failed. */
export type Hashed =
  | { readonly hash: string; readonly body?: Blob }
  | { readonly error: { readonly name: string; readonly message: string; readonly isRead: boolean } };

// Memory that all slices reuse, since browsers free unused buffers late.
let spare = new ArrayBuffer(0);

/** Hashes a slice. With `keepBytes`, also returns the bytes as a Blob. Never rejects. */
export async function hashSlice(request: {
  readonly slice: Blob;
  readonly algorithm: HashAlgorithm;
  readonly keepBytes: boolean;
}): Promise<Hashed> {
  let isRead = true;
  try {
    const bytes = await readWhole(request.slice);
    isRead = false;
    const hash = await digest(bytes, request.algorithm);
    const body = request.keepBytes ? { body: new Blob([bytes]) } : {};
    spare = bytes.buffer;
    return { hash, ...body };
  } catch (error) {
    const { name = 'Error', message = String(error) } = error as Partial<Error>;
    return { error: { name, message, isRead } };
  }
}

/** Returns the hash. Uses `crypto.subtle` for SHA-256 in secure contexts, and otherwise loads hash-wasm. */
async function digest(bytes: Uint8Array<ArrayBuffer>, algorithm: HashAlgorithm): Promise<string> {
  if (algorithm === 'sha-256' && globalThis.crypto?.subtle) {
    return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  }
  const { blake3, sha256 } = await import('./wasm-hashes.ts');
  return algorithm === 'blake3' ? blake3(bytes) : sha256(bytes);
}

/** Reads all bytes of a slice. Rejects if the slice cannot be read, or is shorter than its size when the file was picked. */
async function readWhole(slice: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const reader = byteReader(slice);
  let bytes: Uint8Array<ArrayBuffer>;
  if (reader) {
    let memory = spare.byteLength >= slice.size ? spare : new ArrayBuffer(slice.size);
    spare = new ArrayBuffer(0);
    let count = 0;
    for (let isDone = false; !isDone && count < slice.size; ) {
      const { value, done } = await reader.read(new Uint8Array(memory, count, slice.size - count));
      memory = value?.buffer ?? new ArrayBuffer(0);
      count += value?.byteLength ?? 0;
      isDone = done;
    }
    void reader.cancel();
    bytes = new Uint8Array(memory, 0, count);
  } else {
    bytes = new Uint8Array(await slice.arrayBuffer());
  }
  if (bytes.byteLength === slice.size) return bytes;
  throw new DOMException('The slice is shorter than it was', 'NotReadableError');
}

/** Returns a reader that fills an existing buffer. Returns `undefined` if the slice is empty or the browser has no such reader. */
function byteReader(slice: Blob): ReadableStreamBYOBReader | undefined {
  try {
    return slice.size ? slice.stream().getReader({ mode: 'byob' }) : undefined;
  } catch {
    return undefined;
  }
}

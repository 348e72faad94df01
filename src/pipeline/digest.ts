// Reads a slice and hashes its bytes (lower-case hex); used in the worker, and on the page where no worker can run.

import type { HashAlgorithm } from '../core/types.ts';

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** What came of a slice; `error.isRead` tells a file that cannot be read from a hash that failed. */
export type Hashed =
  | { readonly hash: string; readonly body?: Blob }
  | { readonly error: { readonly name: string; readonly message: string; readonly isRead: boolean } };

// One slice after another is read into the same memory: a browser frees late what was dropped, and files are long.
let spare = new ArrayBuffer(0);

/** Hashes a slice, and hands its bytes back as a Blob where asked. Never rejects. */
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

/** The platform's SHA-256 where it may be used, else hash-wasm, which is fetched only then. */
async function digest(bytes: Uint8Array<ArrayBuffer>, algorithm: HashAlgorithm): Promise<string> {
  if (algorithm === 'sha-256' && globalThis.crypto?.subtle) {
    return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  }
  const { blake3, sha256 } = await import('./wasm-hashes.ts');
  return algorithm === 'blake3' ? blake3(bytes) : sha256(bytes);
}

// All bytes of a slice. Rejects where it cannot be read, also where fewer came than it had when it was picked.
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

// Not every browser reads into memory that is given to it.
function byteReader(slice: Blob): ReadableStreamBYOBReader | undefined {
  try {
    return slice.size ? slice.stream().getReader({ mode: 'byob' }) : undefined;
  } catch {
    return undefined;
  }
}

// Reads and hashes a slice. Runs in the workers, or on the page if no worker can run.

import type { HashAlgorithm } from '../core/types.ts';

/** Result of hashing. `hash` is lowercase hex. `isRead` is true if reading failed, and false if hashing failed. */
export type Hashed =
  | { readonly hash: string; readonly body?: Blob; readonly state?: Uint8Array; readonly sliceHash?: string }
  | { readonly error: { readonly name: string; readonly message: string; readonly isRead: boolean } };

export interface HashWork {
  readonly slice: Blob;
  readonly algorithm: HashAlgorithm;
  readonly keepBytes: boolean;
  /** Set to continue the SHA-256 of a whole file, from this state. */
  readonly state?: Uint8Array | undefined;
}

/** `onRead` is called while the slice is read, at most once a second. */
type HashSliceHere = (work: HashWork, onRead?: () => void) => Promise<Hashed>;

type WasmHashes = Pick<typeof import('./wasm-hashes.ts'), 'blake3' | 'sha256' | 'continueSha256'>;

/**
 * Returns a function that hashes a slice, and never rejects. With `keepBytes`, it also returns the bytes as a Blob. It uses
 * `crypto.subtle` for SHA-256 in secure contexts, and otherwise calls `loadWasm`.
 */
export function createHashSlice(loadWasm?: () => Promise<WasmHashes>): HashSliceHere {
  // Memory that all slices reuse, since browsers free unused buffers late.
  let spare = new ArrayBuffer(0);

  async function digest(bytes: Uint8Array<ArrayBuffer>, algorithm: HashAlgorithm): Promise<string> {
    if (algorithm === 'sha-256' && globalThis.crypto?.subtle) {
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
      return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    }
    return (await wasmFor(algorithm))[algorithm === 'blake3' ? algorithm : 'sha256'](bytes);
  }

  async function wasmFor(what: string): Promise<WasmHashes> {
    const hashes = await loadWasm?.();
    if (hashes) return hashes;
    throw new DOMException(
      `No ${what} here. Copy secure-uploader/hash-wasm.worker.js to your site and set worker-url to its URL.`,
      'NotSupportedError',
    );
  }

  /** Reads all bytes of a slice. Rejects if the slice cannot be read, or is shorter than its size when the file was picked. */
  async function readWhole(slice: Blob, onRead?: () => void): Promise<Uint8Array<ArrayBuffer>> {
    const reader = byteReader(slice);
    let bytes: Uint8Array<ArrayBuffer>;
    if (reader) {
      let memory = spare.byteLength >= slice.size ? spare : new ArrayBuffer(slice.size);
      spare = new ArrayBuffer(0);
      let count = 0;
      let readMs = performance.now();
      for (let isDone = false; !isDone && count < slice.size; ) {
        const { value, done } = await reader.read(new Uint8Array(memory, count, slice.size - count));
        memory = value?.buffer ?? new ArrayBuffer(0);
        count += value?.byteLength ?? 0;
        isDone = done;
        if (performance.now() - readMs < 1000) continue;
        readMs = performance.now();
        onRead?.();
      }
      void reader.cancel();
      bytes = new Uint8Array(memory, 0, count);
    } else {
      bytes = new Uint8Array(await slice.arrayBuffer());
    }
    if (bytes.byteLength === slice.size) return bytes;
    throw new DOMException('The slice is shorter than it was', 'NotReadableError');
  }

  /** Returns a reader that fills an existing buffer, or `undefined` if the slice is empty or the browser has no such reader. */
  function byteReader(slice: Blob): ReadableStreamBYOBReader | undefined {
    try {
      return slice.size ? slice.stream().getReader({ mode: 'byob' }) : undefined;
    } catch {
      return undefined;
    }
  }

  return async ({ slice, algorithm, keepBytes, state }, onRead) => {
    let isRead = true;
    try {
      const bytes = await readWhole(slice, onRead);
      isRead = false;
      const hash = await digest(bytes, algorithm);
      const found = state
        ? {
            ...(await (await wasmFor('hash of the file')).continueSha256(state, bytes)),
            sliceHash: hash,
          }
        : { hash };
      const body = keepBytes ? { body: new Blob([bytes]) } : {};
      spare = bytes.buffer;
      return { ...found, ...body };
    } catch (error) {
      const { name = 'Error', message = String(error) } = error as Partial<Error>;
      return { error: { name, message, isRead } };
    }
  };
}

// The hash worker for BLAKE3, for `profile.sendFileHash`, and for pages without `crypto.subtle`. Contains hash-wasm.

import { NO_WASM } from '../core/worker-messages.ts';
import { answerRequests } from './answer-requests.ts';
import { createHashSlice } from './digest.ts';
import { blake3, continueSha256, sha256 } from './wasm-hashes.ts';

/** An empty module. */
const EMPTY_WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Returns true if a policy forbids WebAssembly. A browser may also lack it, and then says so with each hash. */
function isWasmForbidden(): boolean {
  try {
    new WebAssembly.Module(EMPTY_WASM);
    return false;
  } catch {
    return 'WebAssembly' in globalThis;
  }
}

if (isWasmForbidden()) postMessage(NO_WASM);
else answerRequests(createHashSlice(async () => ({ blake3, sha256, continueSha256 })));

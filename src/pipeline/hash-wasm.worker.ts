// The hash worker for BLAKE3, for `profile.sendFileHash`, and for pages without `crypto.subtle`. Contains hash-wasm.

import { answerRequests } from './answer-requests.ts';
import { createHashSlice } from './digest.ts';
import { blake3, continueSha256, sha256 } from './wasm-hashes.ts';

answerRequests(createHashSlice(async () => ({ blake3, sha256, continueSha256 })));

// The default hash worker: SHA-256 with `crypto.subtle`.

import { answerRequests } from './answer-requests.ts';
import { createHashSlice } from './digest.ts';

answerRequests(createHashSlice());

// The source code of the default hash worker. In the modules of the package, scripts/build.mjs replaces it with the code of
// `hash.worker.js`, because the bundler of an app may add calls of helper functions that the worker doesn't have.

import { answerRequests } from './answer-requests.ts';
import { createHashSlice } from './digest.ts';

export const workerSource: string = `(${answerRequests})((${createHashSlice})())`;

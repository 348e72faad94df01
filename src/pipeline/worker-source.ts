// The default hash worker as text. In the modules of the package, scripts/build.mjs replaces it with the text of
// `hash.worker.js`, because the bundler of an app may compile these functions into ones that need its helpers.

import { answerRequests } from './answer-requests.ts';
import { createHashSlice } from './digest.ts';

export const workerSource: string = `(${answerRequests})((${createHashSlice})())`;

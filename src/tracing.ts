// `dist/cdn/tracing.js`: what the one file needs for `onSpan` and `diagnose()`. A page loads it with a script of its own, so that
// it can give each file a hash (`integrity`).

import * as trace from './engine/trace.ts';

Object.assign(globalThis, { [Symbol.for('secure-uploader.tracing')]: trace });

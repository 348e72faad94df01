// The messages between the hash pool and its workers.

import type { Hashed, HashWork } from './digest.ts';

/** A message to a worker. The reply has the same `id`. */
export interface HashRequest extends HashWork {
  readonly id: number;
}

export type HashAnswer = Hashed & { readonly id: number };

/** A message from a worker while it reads a slice, at most once a second. */
export interface HashProgress {
  readonly id: number;
  readonly isReading: true;
}

/** First message from a worker. */
export type Ready = 'ready';

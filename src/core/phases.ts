// The public phases of an upload. `engine/upload-machine.ts` has the states behind them.

/** `hashing` lasts until the first PUT; waiting to retry is `uploading` with `retryAt`. */
export type Phase =
  | 'queued'
  | 'hashing'
  | 'uploading'
  | 'committing'
  | 'done'
  | 'paused'
  | 'failed'
  | 'canceled';

/** Why an upload is paused. Only the user can end `user` and `needs-file`; the others may end automatically. */
export type PauseReason =
  | 'user'
  | 'offline'
  | 'signed-out'
  | 'challenge'
  | 'rate-limited'
  | 'other-tab'
  | 'needs-file';

/** True if chunks are being hashed, sent or committed. */
export const isActive = (phase: Phase): boolean =>
  phase === 'hashing' || phase === 'uploading' || phase === 'committing';

/** True if only a command of the user changes the phase. */
export const isSettled = (phase: Phase): boolean =>
  phase === 'done' || phase === 'failed' || phase === 'canceled';

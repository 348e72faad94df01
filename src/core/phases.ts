// The phase of a file as pages see it. What moves it is the table in `engine/upload-machine.ts`.

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

/** Why a file is paused. `user` and `needs-file` need the user; the others end by themselves. */
export type PauseReason =
  | 'user'
  | 'offline'
  | 'signed-out'
  | 'challenge'
  | 'rate-limited'
  | 'other-tab'
  | 'needs-file';

/** Phases in which a run is alive. */
export const isActive = (phase: Phase): boolean =>
  phase === 'hashing' || phase === 'uploading' || phase === 'committing';

/** Phases from which nothing happens any more unless somebody asks for it. */
export const isSettled = (phase: Phase): boolean =>
  phase === 'done' || phase === 'failed' || phase === 'canceled';

// The public phases of an upload. `engine/upload-machine.ts` has the states behind them.

/**
 * Phase of an upload. `hashing` lasts until the first PUT. An upload that waits for a retry keeps its phase, and has
 * `retryAtMs`.
 */
export type Phase =
  | 'queued'
  | 'hashing'
  | 'uploading'
  | 'committing'
  | 'done'
  | 'paused'
  | 'failed'
  | 'canceled';

/**
 * Reason why an upload is paused. Only the user can end `user` and `needs-file`; the other pauses may end automatically.
 * `resuming`: the file of an earlier visit is being looked for, or a chosen one is compared with it. `offline`: the browser is
 * offline, or a token can't be requested because the network or the service is away. `slow-file`: no byte of the file has arrived
 * for ten seconds, for example because it is on a drive that is gone, or has to come from a cloud first.
 */
export type PauseReason =
  | 'user'
  | 'offline'
  | 'signed-out'
  | 'challenge'
  | 'rate-limited'
  | 'other-tab'
  | 'slow-file'
  | 'resuming'
  | 'needs-file';

/** Returns true if chunks are being hashed, sent or committed. */
export const isActive = (phase: Phase): phase is 'hashing' | 'uploading' | 'committing' =>
  phase === 'hashing' || phase === 'uploading' || phase === 'committing';

export const hasActive = (files: readonly { readonly phase: Phase }[]): boolean =>
  files.some(({ phase }) => isActive(phase));

/** Returns true if the phase changes only by a command of the user. */
export const isSettled = (phase: Phase): boolean =>
  phase === 'done' || phase === 'failed' || phase === 'canceled';

/** Returns true if only the user can end the pause of an upload. */
export const needsUser = ({ pauseReason }: { readonly pauseReason?: PauseReason | undefined }): boolean =>
  pauseReason === 'user' || pauseReason === 'needs-file';

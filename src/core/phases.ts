// The one state of a file, and the moves between states. Whoever moves a phase does it through `move`.

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

/** Why a file is paused; only `user` needs a click to go on. */
export type PauseReason =
  | 'user'
  | 'offline'
  | 'signed-out'
  | 'challenge'
  | 'rate-limited'
  | 'other-tab'
  | 'needs-file';

const MOVES: Readonly<Record<Phase, readonly Phase[]>> = {
  queued: ['hashing', 'done', 'paused', 'failed', 'canceled'],
  hashing: ['uploading', 'committing', 'done', 'paused', 'failed', 'canceled'],
  uploading: ['committing', 'done', 'paused', 'failed', 'canceled'],
  committing: ['uploading', 'done', 'paused', 'failed', 'canceled'],
  paused: ['queued', 'hashing', 'uploading', 'committing', 'failed', 'canceled'],
  failed: ['queued', 'canceled'],
  canceled: ['queued'],
  done: [],
};

/** True where the table allows the move. */
export const canMove = (from: Phase, to: Phase): boolean => MOVES[from].includes(to);

/** The new phase; throws `TypeError` on a move that the table does not have, since that is a defect of ours. */
export function move(from: Phase, to: Phase): Phase {
  if (!canMove(from, to)) throw new TypeError(`A file cannot go from ${from} to ${to}`);
  return to;
}

/** Phases in which a run is alive. */
export const isActive = (phase: Phase): boolean =>
  phase === 'hashing' || phase === 'uploading' || phase === 'committing';

/** Phases from which nothing happens any more unless somebody asks for it. */
export const isSettled = (phase: Phase): boolean =>
  phase === 'done' || phase === 'failed' || phase === 'canceled';

// The life of an upload session on the service, without side effects: a table of states and events, what is saved of a state, and
// when a session is given up. `upload-session.ts` carries out what the table says.

import { codeFacts, type ErrorCode } from '../core/error-codes.ts';
import { UploaderError } from '../core/errors.ts';
import type { SavedSession, Session, StoredState } from '../core/types.ts';

/** Present in all states with a session that is used. `isResumed`: an earlier run opened it. */
interface Used {
  readonly session: Session;
  readonly isResumed: boolean;
}

export type SessionState =
  /** `opening`: a session is requested. `done`: the service has the file. */
  | { readonly phase: 'none' | 'opening' | 'done' }
  | ({ readonly phase: 'open' } & Used)
  /** The session is given up. `needsName`: another upload has taken the name, so the next session gets another one. */
  | ({ readonly phase: 'lost'; readonly needsName: boolean } & Used)
  /** The storage does not take chunks of this size. The session has to be canceled before the next one is opened. */
  | ({ readonly phase: 'too-large' } & Used)
  /** The service has accepted the commit (202). `sinceMs`: epoch time from which its deadline counts. */
  | ({ readonly phase: 'accepted'; readonly sinceMs: number } & Used)
  /**
   * A commit was sent, and its response has not arrived: the file may be complete on the service. `isFirst`: no other commit is
   * without a response, so a refusal says that the file is not complete. `acceptedAtMs`: an earlier commit was accepted.
   */
  | ({
      readonly phase: 'unsure';
      readonly sinceMs: number;
      readonly isFirst: boolean;
      readonly acceptedAtMs?: number | undefined;
    } & Used);

export type SessionPhase = SessionState['phase'];
type StateOf<P extends SessionPhase> = Extract<SessionState, { readonly phase: P }>;
type WithSession = Extract<SessionState, Used>;

export interface SessionModel {
  readonly state: SessionState;
  /** Size of all chunks of this session except the last, in bytes. */
  readonly chunkSizeBytes: number;
  /** Larger chunks are not tried, because the storage has rejected them. */
  readonly largestChunkBytes?: number | undefined;
  /** False from the loss of a session until a chunk is stored that was not stored before. */
  readonly hasProgress: boolean;
  /** Time when a chunk was last stored in this session, by `performance.now()`. */
  readonly storedAtMs: number;
}

/** `atMs` is an epoch time, except in `chunk-stored`. */
export type SessionEvent =
  | { readonly type: 'requested' | 'dropped' | 'completed' }
  | { readonly type: 'opened'; readonly session: Session; readonly chunkSizeBytes: number }
  | { readonly type: 'chunk-stored'; readonly isNew: boolean; readonly atMs: number }
  | { readonly type: 'chunk-too-large'; readonly smallerBytes: number }
  | { readonly type: 'lost'; readonly needsName: boolean }
  | { readonly type: 'commit-sent' | 'commit-unanswered' | 'commit-accepted'; readonly atMs: number }
  /** An error that says that this commit did not complete the file, or a list of chunks that the service lacks. */
  | { readonly type: 'commit-refused' | 'chunks-missing' }
  /** The time to complete the file is over. A retry has the full time again. */
  | { readonly type: 'commit-overdue'; readonly atMs: number };

type EventType = SessionEvent['type'];
type Cell<P extends SessionPhase, T extends EventType> = (
  state: StateOf<P>,
  event: Extract<SessionEvent, { readonly type: T }>,
  model: SessionModel,
) => Partial<SessionModel>;
type Table = { readonly [P in SessionPhase]: { readonly [T in EventType]?: Cell<P, T> } };

const used = ({ session, isResumed }: Used): Used => ({ session, isResumed });
const to = (state: SessionState): Partial<SessionModel> => ({ state });

const request = (
  _state: SessionState,
  _event: SessionEvent,
  { chunkSizeBytes, largestChunkBytes = chunkSizeBytes }: SessionModel,
): Partial<SessionModel> => ({
  state: { phase: 'opening' },
  chunkSizeBytes: Math.min(chunkSizeBytes, largestChunkBytes),
});
const lose = (state: WithSession, { needsName }: { readonly needsName: boolean }): Partial<SessionModel> => ({
  state: { phase: 'lost', needsName, ...used(state) },
  // Another name is no loss.
  ...(!needsName && { hasProgress: false }),
});
const shrink = (
  state: WithSession,
  { smallerBytes }: { readonly smallerBytes: number },
): Partial<SessionModel> => ({
  state: { phase: 'too-large', ...used(state) },
  largestChunkBytes: smallerBytes,
});
const store = (
  _state: SessionState,
  { isNew, atMs }: { readonly isNew: boolean; readonly atMs: number },
): Partial<SessionModel> => ({ storedAtMs: atMs, ...(isNew && { hasProgress: true }) });
const accept = (
  state: StateOf<'open' | 'unsure'>,
  { atMs }: { readonly atMs: number },
): Partial<SessionModel> => {
  const { acceptedAtMs = atMs } = state.phase === 'unsure' ? state : {};
  return to({ phase: 'accepted', sinceMs: acceptedAtMs, ...used(state) });
};
const reopen = (state: WithSession): Partial<SessionModel> => to({ phase: 'open', ...used(state) });
const complete = (): Partial<SessionModel> => to({ phase: 'done' });

const TABLE: Table = {
  none: { requested: request },
  opening: {
    dropped: () => to({ phase: 'none' }),
    opened: (_state, { session, chunkSizeBytes }, { largestChunkBytes }) => ({
      state: { phase: 'open', session, isResumed: false },
      chunkSizeBytes,
      // The session may require larger chunks.
      largestChunkBytes: largestChunkBytes && Math.max(largestChunkBytes, chunkSizeBytes),
      storedAtMs: Number.NEGATIVE_INFINITY,
    }),
  },
  open: {
    lost: lose,
    'chunk-stored': store,
    'chunk-too-large': shrink,
    'commit-sent': (state, { atMs }) => to({ phase: 'unsure', sinceMs: atMs, isFirst: true, ...used(state) }),
    'commit-unanswered': (state, { atMs }) =>
      to({ phase: 'unsure', sinceMs: atMs, isFirst: false, ...used(state) }),
    'commit-accepted': accept,
    completed: complete,
  },
  lost: { requested: request, 'chunk-too-large': shrink },
  'too-large': { requested: request },
  accepted: {
    lost: lose,
    'chunk-stored': store,
    'chunk-too-large': shrink,
    'commit-unanswered': (state) =>
      to({
        phase: 'unsure',
        sinceMs: state.sinceMs,
        isFirst: false,
        acceptedAtMs: state.sinceMs,
        ...used(state),
      }),
    'chunks-missing': reopen,
    'commit-overdue': (state, { atMs }) => to({ ...state, sinceMs: atMs }),
    completed: complete,
  },
  unsure: {
    'chunk-stored': store,
    'commit-unanswered': (state) => to({ ...state, isFirst: false }),
    'commit-accepted': accept,
    'commit-refused': (state) => (state.isFirst ? reopen(state) : {}),
    'chunks-missing': reopen,
    'commit-overdue': (state, { atMs }) =>
      to({ ...state, sinceMs: atMs, acceptedAtMs: state.acceptedAtMs && atMs }),
    completed: complete,
  },
  done: {},
};

/** Returns the next model, or the same model if the table does not list the event for the state. */
export function reduce(model: SessionModel, event: SessionEvent): SessionModel {
  const cell = TABLE[model.state.phase][event.type] as
    | ((state: SessionState, event: SessionEvent, model: SessionModel) => Partial<SessionModel>)
    | undefined;
  return cell ? { ...model, ...cell(model.state, event, model) } : model;
}

/** Returns the model of a session that an earlier run left; without one, that of an upload without a session. */
export function modelOf(saved: SavedSession | undefined, chunkSizeBytes: number): SessionModel {
  const { session, largestChunkBytes } = saved ?? {};
  const sizeBytes = saved && session ? saved.chunkSizeBytes : chunkSizeBytes;
  return {
    state: saved ? stateOf(saved) : { phase: 'none' },
    chunkSizeBytes: session ? sizeBytes : Math.min(sizeBytes, largestChunkBytes ?? sizeBytes),
    largestChunkBytes,
    hasProgress: true,
    storedAtMs: Number.NEGATIVE_INFINITY,
  };
}

/** Returns the state of a saved session. */
export function stateOf({
  session,
  chunkSizeBytes,
  largestChunkBytes = chunkSizeBytes,
  acceptedAtMs,
  commitSentAtMs,
}: SavedSession): SessionState {
  if (!session) return { phase: 'none' };
  const own = { session, isResumed: true };
  if (commitSentAtMs !== undefined)
    return { phase: 'unsure', sinceMs: commitSentAtMs, isFirst: false, acceptedAtMs, ...own };
  if (acceptedAtMs !== undefined) return { phase: 'accepted', sinceMs: acceptedAtMs, ...own };
  return { phase: largestChunkBytes < chunkSizeBytes ? 'too-large' : 'open', ...own };
}

/** Returns true if the session may be canceled because other bytes are sent: no commit of it was accepted or is unsure. */
export const isCancelable = (saved: SavedSession): boolean =>
  ['open', 'too-large'].includes(stateOf(saved).phase);

/**
 * Returns what is saved of the session; `undefined` if there is none. The record of a lost session stays as it is until the next
 * session is open, so that a retry can resume if opening fails.
 */
export function savedOf({
  state,
  chunkSizeBytes,
  largestChunkBytes,
}: SessionModel): SavedSession | undefined {
  if (!('session' in state) || state.phase === 'lost') return undefined;
  const { phase, session } = state;
  return {
    session,
    chunkSizeBytes,
    largestChunkBytes,
    acceptedAtMs: phase === 'accepted' ? state.sinceMs : phase === 'unsure' ? state.acceptedAtMs : undefined,
    commitSentAtMs: phase === 'unsure' ? state.sinceMs : undefined,
  };
}

/** What a run knew of its session. */
export type PausedSession = SavedSession & {
  /** Chunks of a commit whose response is missing: a completed session would refuse to presign them again. */
  readonly committed?: readonly StoredState[];
};

/** Errors of a commit that do not say whether the service has completed the file. */
const UNANSWERED: readonly ErrorCode[] = ['network', 'offline', 'timeout', 'service-failed', 'bad-response'];

/**
 * Returns true if the service may have completed the file although the commit has failed with this error. A proxy may answer 503
 * after it has forwarded the commit.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof UploaderError)) return false;
  const { code, debugInfo, status } = error;
  return UNANSWERED.includes(code) || (code === 'rate-limited' && status !== 429 && debugInfo === undefined);
}

/**
 * Returns true if a call in a session may have reached something else than the service, because its path is wrong: the answer is
 * 404 without `debuginfo`, and no commit was accepted at this path.
 */
export const mayBeMisplaced = ({ phase }: SessionState, error: unknown): error is UploaderError =>
  phase === 'open' &&
  error instanceof UploaderError &&
  error.code === 'session-expired' &&
  error.status === 404 &&
  error.debugInfo === undefined;

/** Time after a stored chunk in which the service certainly knows the session, in milliseconds. */
const LATELY_MS = 60_000;
/** Number of times that a call is repeated before its session is given up: if the answer is certain, and otherwise. */
const CERTAIN_REPEATS = 1;
const REPEATS = 3;

/** What is known when a call in a session has failed. */
export interface Evidence {
  readonly error: unknown;
  /** Number of times that the call was repeated because of such an error. */
  readonly repeatCount: number;
  /** True if the upload may get another name (`on-conflict="rename"`). */
  readonly canRename: boolean;
  /** Time by `performance.now()`. */
  readonly nowMs: number;
}

/**
 * What follows from a failed call in a session. `fail`: its error. `ask-again`: the call is repeated. `next-session`, `next-name`:
 * the session is given up. `may-be-complete`: the session is gone, but a commit is without a response, so nothing is sent again.
 */
export type Verdict = 'fail' | 'ask-again' | 'next-session' | 'next-name' | 'may-be-complete';

/** Returns true if a commit may be without a response, as the last poll of an earlier run may be. */
const lacksAnswer = (state: SessionState): boolean =>
  state.phase === 'unsure' || (state.phase === 'accepted' && state.isResumed);

/**
 * Decides whether a session is given up. A session is lost after a second 401, or if the service says repeatedly that it is gone
 * (404, 410; in a session of an earlier run also 403). One server of several may not know the session yet, and a proxy may have
 * answered: without `debuginfo`, or if the session took a chunk lately, the call is repeated for longer.
 */
export function judge(
  { state, hasProgress, storedAtMs }: SessionModel,
  { error, repeatCount, canRename, nowMs }: Evidence,
): Verdict {
  if (!(error instanceof UploaderError) || !('session' in state)) return 'fail';
  const { code, debugInfo } = error;
  const isUnsure = lacksAnswer(state);
  if (code === 'name-taken') {
    if (isUnsure) return 'may-be-complete';
    // The service may have completed the file since it accepted the commit, and refuse each later commit for this reason.
    return canRename && state.phase !== 'accepted' ? 'next-name' : 'fail';
  }
  if (!codeFacts(code).endsSession && !(state.isResumed && code === 'forbidden')) return 'fail';
  const isCertain = debugInfo !== undefined && nowMs - storedAtMs >= LATELY_MS;
  if (code !== 'token-rejected' && repeatCount < (isCertain ? CERTAIN_REPEATS : REPEATS)) return 'ask-again';
  if (isUnsure) return code === 'session-expired' ? 'may-be-complete' : 'fail';
  switch (state.phase) {
    case 'accepted':
      return code === 'session-expired' && hasProgress ? 'next-session' : 'fail';
    case 'open':
      return hasProgress ? 'next-session' : 'fail';
    // Another call has found it out before.
    default:
      return 'next-session';
  }
}

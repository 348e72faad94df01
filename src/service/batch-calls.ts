// What batches need to know: of each call, and of the service.

import type { Answer, Send } from './http.ts';
import type { Meaning } from './profile.ts';

/** One call for one file. */
export interface FileCall {
  /** Fields of the file in the request; `undefined` if they are not known, or clash. The call then goes alone. */
  readonly fields: object | undefined;
  readonly token: string | undefined;
  /** Aborts when the file no longer needs the call. A call that waits is then not sent. The same for all calls of an upload. */
  readonly signal: AbortSignal;
  /** Aborts when the answer to a call that was sent is no longer needed. Defaults to `signal`. */
  readonly sentSignal?: AbortSignal;
  /** Called directly before the call is sent in a batch. The call waits until it resolves. */
  readonly onSend?: (() => void | Promise<void>) | undefined;
  /** Makes the call in a request of its own. */
  readonly sendAlone: () => Promise<Answer>;
}

/** What the batches of both kinds have in common. */
export interface SharedRules {
  readonly send: Send;
  readonly path: string;
  /** Value of `patience` of the requests that commit. */
  readonly commitPatience: number;
  /** Returns what the status of an answer to a single call means. */
  readonly meaningOf: (answer: Answer) => Meaning;
  /** Returns true if something else than the service may have responded. A single call then says which path is wrong. */
  readonly isFromElsewhere: (answer: Answer) => boolean;
  /** Returns the session header in the answer to a single call that opens a session (U1). Throws if it has none. */
  readonly sessionOf: (answer: Answer) => string;
}

export type Kind = 'open' | 'commit';

/** Returns a signal that aborts when all of `signals` have, unless `endSignal` aborts before. */
export function whenAllAbort(signals: readonly AbortSignal[], endSignal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const look = (): void => {
    if (signals.every(({ aborted }) => aborted)) controller.abort(signals[0]?.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', look, { signal: endSignal });
  look();
  return controller.signal;
}

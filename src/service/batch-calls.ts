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
  /** Returns true if an answer is for another file. */
  readonly isOfAnother?: (answer: Answer) => boolean;
  /** Makes the call in a request of its own. */
  readonly alone: () => Promise<Answer>;
}

/** What the batches of both kinds have in common. */
export interface SharedRules {
  readonly send: Send;
  readonly path: string;
  /** Value of `patience` of the requests that commit. */
  readonly commitPatience: number;
  /** Returns what a status means for a single call. */
  readonly meaningOf: (status: number) => Meaning;
  /** Returns true if something else than the service may have responded. A single call then says which path is wrong. */
  readonly isFromElsewhere: (answer: Answer) => boolean;
  /** Returns false if the answer to a single call that opens a session says that an answer in a batch cannot be enough. */
  readonly suits: (answer: Answer) => boolean;
}

export type Kind = 'open' | 'commit';

// Sends the calls of many small files in one request (`batch-path`, U22). Each file gets its own answer, as from a single call.

import { UploaderError } from '../core/errors.ts';
import { Lane } from '../core/lane.ts';
import { abortable } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { Answer, Send } from './http.ts';

/** Most files in a request. */
const MOST_FILES = 64;
/**
 * Time from the start of a request to the next one, unless that one is full: calls that come meanwhile share it. Each request that
 * still runs doubles it, so that the calls to a slow service gather, and none waits for a request that hangs.
 */
const SPACING_MS = 200;
const LONGEST_SPACING_MS = 5000;
/** Largest part of a response for one file, in bytes. A URL with a signed security token has about 3 KiB. */
const ANSWER_BYTES = 32_768;
/** Statuses of a service that does not know batches. */
const UNKNOWN = [404, 405, 501];
/** By so many files, a request that succeeds makes the next one larger, after one that failed has halved it. */
const GROWTH = 4;
/**
 * Calls that go alone at the same time after a batch that failed, so that they leave connections to other files: over HTTP/1.1,
 * browsers have six. A call that takes longer than the limit no longer counts.
 */
const ALONE_AT_ONCE = 3;
const ALONE_MS = 2000;
/** Number of batches in a row without a valid answer after which files go alone. */
const MOST_FAILURES = 3;

/** One call for one file. */
export interface FileCall {
  /** Fields of the file in the request; `undefined` if they are not known, or clash. The call then goes alone. */
  readonly fields: object | undefined;
  readonly token: string | undefined;
  /** Aborts when the file no longer needs the call. A call that waits is then not sent. */
  readonly signal: AbortSignal;
  /** Aborts when the answer to a call that was sent is no longer needed. Defaults to `signal`. */
  readonly sentSignal?: AbortSignal;
  /** Makes the call in a request of its own. */
  readonly alone: () => Promise<Answer>;
}

interface Waiting extends FileCall {
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
}

/** What the batches of both kinds have in common. */
export interface SharedRules {
  readonly send: Send;
  readonly path: string;
  /** Value of `patience` of the requests that commit. */
  readonly commitPatience: number;
  /** Returns true if a status says that the token is refused. */
  readonly isTokenRefused: (status: number) => boolean;
  /** Returns true if something else than the service may have responded. A single call then says which path is wrong. */
  readonly isFromElsewhere: (answer: Answer) => boolean;
  /** Returns false if the answer to a single call that opens a session says that an answer in a batch cannot be enough. */
  readonly suits: (answer: Answer) => boolean;
}

type Kind = 'open' | 'commit';

interface Rules extends Omit<SharedRules, 'commitPatience' | 'suits'> {
  readonly kind: Kind;
  readonly patience: number;
  readonly suits?: SharedRules['suits'];
  /** Called when a batch has been answered, or when the service has none. */
  readonly onNews: (event: 'proves' | 'ends') => void;
}

/** Creates the batches of a service. */
export function createBatches({ commitPatience, suits, ...rules }: SharedRules): Record<Kind, Batches> {
  const open: Batches = new Batches({
    ...rules,
    kind: 'open',
    patience: 1,
    suits,
    onNews: (event) => commit.note(event),
  });
  const commit: Batches = new Batches({
    ...rules,
    kind: 'commit',
    patience: commitPatience,
    // Whether an answer in a batch suits a session, only a single call that opens one says.
    onNews: (event) => event === 'ends' && open.note(event),
  });
  return { open, commit };
}

/**
 * What is known of the calls of one kind. `new`: nothing, so that the next one goes alone; `first`: it runs; `works`: the others go
 * in batches. `doubted`: a call has failed, so that the next one goes alone, whatever the other kind says; `asking`: it runs.
 * `absent`: files go alone from now on.
 */
type Trust = 'new' | 'first' | 'works' | 'doubted' | 'asking' | 'absent';
/**
 * `asks`: a call starts alone. `succeeds`, `fails`: such a call has ended. `loses`: a batch has failed, maybe with the service.
 * `proves`: the service has answered a batch of the other kind. `ends`: it has no batches, or they always fail.
 */
type TrustEvent = 'asks' | 'succeeds' | 'fails' | 'loses' | 'proves' | 'ends';

const NEXT: Readonly<Record<Trust, Partial<Record<TrustEvent, Trust>>>> = {
  new: { asks: 'first', proves: 'works', ends: 'absent' },
  first: { succeeds: 'works', fails: 'doubted', proves: 'works', ends: 'absent' },
  works: { loses: 'doubted', ends: 'absent' },
  doubted: { asks: 'asking', ends: 'absent' },
  asking: { succeeds: 'works', fails: 'doubted', ends: 'absent' },
  absent: {},
};

/** Gathers the calls of one kind. The first one goes alone: if it is refused, the others need not be. */
export class Batches {
  readonly #rules: Rules;
  readonly #waiting = new Set<Waiting>();
  readonly #lane = new Lane(ALONE_AT_ONCE, ALONE_MS);
  #trust: Trust = 'new';
  /** Most files in a request that the service takes. */
  #limit = MOST_FILES;
  /** Most files in the next request: halved by each one that fails. */
  #mostFiles = MOST_FILES;
  /** Number of requests in a row without a valid answer. */
  #failureCount = 0;
  #running = 0;
  #startedMs = Number.NEGATIVE_INFINITY;
  #isGathering = false;
  /** Timer for the next request, while calls wait for it. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** True if calls gather, so that they need their fields. The first one goes alone. */
  get gathers(): boolean {
    return this.#trust !== 'new' && this.#trust !== 'absent';
  }

  /** True while calls go in batches, because one has succeeded. */
  get works(): boolean {
    return this.#trust === 'works';
  }

  note(event: TrustEvent): void {
    this.#trust = NEXT[this.#trust][event] ?? this.#trust;
    this.#startSoon();
  }

  /** Resolves with the answer for this file. Rejects like `Send`. */
  ask(call: FileCall): Promise<Answer> {
    const isFirst = this.#trust === 'new';
    if (!isFirst && !(this.gathers && call.fields)) return call.alone();
    const { signal } = call;
    return new Promise<Answer>((resolve, reject) => {
      const waiting = { ...call, resolve };
      const onAbort = (): void => {
        if (this.#waiting.delete(waiting)) reject(signal.reason);
        if (this.#waiting.size === 0) clearTimeout(this.#timer);
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      else if (isFirst) this.#start();
      else this.#startSoon();
    });
  }

  /** Starts requests after this task, in which more calls may come. */
  #startSoon(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    queueMicrotask(() => {
      this.#isGathering = false;
      this.#start();
    });
  }

  #start(): void {
    clearTimeout(this.#timer);
    if (this.#trust === 'new' || this.#trust === 'doubted') return void this.#startFirst();
    while (this.#waiting.size > 0 && (this.#trust === 'works' || this.#trust === 'absent')) {
      const restMs = this.#trust === 'works' ? this.#restMs() : 0;
      if (restMs > 0) {
        this.#timer = setTimeout(() => this.#start(), restMs);
        return;
      }
      const calls = this.#take();
      if (this.#trust === 'absent') this.#sendAlone(calls);
      else void this.#request(calls);
    }
  }

  /** Returns the time until the next request starts, in milliseconds. */
  #restMs(): number {
    // Requests that are small only because one has failed do not start at once: there would be many.
    if (this.#waiting.size >= this.#limit) return 0;
    const spacingMs = Math.min(SPACING_MS * 2 ** this.#running, LONGEST_SPACING_MS);
    return this.#startedMs + spacingMs - performance.now();
  }

  /** Takes the calls that have waited longest and have the same token. */
  #take(): Waiting[] {
    const [oldest] = this.#waiting;
    const calls = [...this.#waiting]
      .filter(({ token }) => token === oldest?.token)
      .slice(0, this.#trust === 'absent' ? undefined : this.#mostFiles);
    for (const call of calls) this.#waiting.delete(call);
    return calls;
  }

  async #startFirst(): Promise<void> {
    const [call] = this.#waiting;
    if (!call) return;
    this.#waiting.delete(call);
    this.note('asks');
    const answering = call.alone();
    call.resolve(answering);
    // The others do not wait for a call that its file no longer needs.
    const answer = await abortable(answering, call.signal).catch(() => undefined);
    const isOk = answer !== undefined && answer.status < 300;
    const { suits } = this.#rules;
    if (isOk && suits && !suits(answer))
      this.#giveUp('The session is in a header of the response, which no answer in a batch has');
    else this.note(isOk ? 'succeeds' : 'fails');
    // Each of the others may be refused for another reason, or not at all, and none waits for another one.
    if (!isOk && this.#trust === 'doubted') this.#sendAlone(this.#take());
  }

  async #request(calls: readonly Waiting[]): Promise<void> {
    this.#running += 1;
    this.#startedMs = performance.now();
    const answers = this.#exchange(calls);
    // The answer to a call that is no longer needed is dropped, and the others still get theirs.
    for (const [index, call] of calls.entries()) {
      const answerOfCall = answers.then((settled) => settled[index] ?? this.#alone(call));
      call.resolve(abortable(answerOfCall, call.sentSignal ?? call.signal));
    }
    await answers.catch(() => undefined);
    this.#running -= 1;
    this.#startSoon();
  }

  #sendAlone(calls: readonly Waiting[]): void {
    for (const call of calls) call.resolve(this.#alone(call));
  }

  /** Makes a call in its turn, unless its file no longer needs it then. Resolves with the answer, which may be needed longer. */
  #alone({ signal, alone }: FileCall): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const send = async (): Promise<void> => {
        const answering = alone();
        resolve(answering);
        await answering.catch(() => undefined);
      };
      this.#lane.run(send, signal).catch(reject);
    });
  }

  /** Resolves with the answers of all files; `undefined` for a file that has to go alone. */
  async #exchange(calls: readonly Waiting[]): Promise<readonly (Answer | undefined)[]> {
    const { send, path, kind, patience } = this.#rules;
    const over = new AbortController();
    const signal = whenAllAbort(
      calls.map((call) => call.sentSignal ?? call.signal),
      over.signal,
    );
    try {
      const answer = await send({
        method: 'POST',
        path,
        token: calls[0]?.token,
        body: { [kind]: calls.map(({ fields }) => fields) },
        maxBytes: 2 ** 16 + calls.length * ANSWER_BYTES,
        patience,
        signal,
      });
      return this.#read(calls, answer);
    } catch (error) {
      if (!signal.aborted) this.#noteError(error, calls.length);
      throw error;
    } finally {
      over.abort();
    }
  }

  /** Returns the answers of all files; `undefined` for a file that has to go alone. Throws `bad-response`. */
  #read(calls: readonly Waiting[], answer: Answer): readonly (Answer | undefined)[] {
    const { status } = answer;
    if (status >= 200 && status < 300) {
      const answers = answersOf(answer, calls.length);
      this.#failureCount = 0;
      this.#rules.onNews('proves');
      this.#mostFiles = Math.min(this.#limit, this.#mostFiles + GROWTH);
      const { isFromElsewhere, isTokenRefused } = this.#rules;
      // A refused token is refused for all files. The status of one file must not take the token from the others.
      const isOwn = (own: Answer): boolean => !isTokenRefused(own.status) && !isFromElsewhere(own);
      return answers.map((own) => (own && isOwn(own) ? own : undefined));
    }
    const isOutage = status === 408 || (status >= 500 && !UNKNOWN.includes(status));
    const says = `The service responded with ${status} to a batch: ${answer.address}`;
    if (isOutage && status !== 503) this.#noteOutage(calls.length, says);
    if (isOutage || status === 429 || this.#rules.isTokenRefused(status)) return calls.map(() => answer);
    if (UNKNOWN.includes(status)) {
      this.#giveUp(says);
      this.#rules.onNews('ends');
    } else if (status === 413) this.#limitTo(Math.floor(calls.length / 2), says);
    else this.#noteFailure(says);
    return calls.map(() => undefined);
  }

  #noteError(error: unknown, count: number): void {
    if (!(error instanceof UploaderError) || error.code === 'offline' || error.code === 'bad-config') return;
    this.#noteOutage(count, error.message);
  }

  /** A single call tells next whether the service works. If so, the batch failed: because of its size, of a file, or for good. */
  #noteOutage(count: number, why: string): void {
    this.#mostFiles = Math.max(2, Math.ceil(count / 2));
    // Of the batches that ran when one failed, only that one counts: one lost connection may carry all of them.
    if (this.#trust !== 'works') return;
    this.note('loses');
    this.#noteFailure(why);
  }

  #limitTo(count: number, why: string): void {
    this.#limit = Math.max(1, count);
    this.#mostFiles = Math.min(this.#mostFiles, this.#limit);
    if (count < 2) this.#giveUp(why);
  }

  /** One file may be the reason, so batches continue until several in a row have failed. */
  #noteFailure(why: string): void {
    this.#failureCount += 1;
    if (this.#failureCount >= MOST_FAILURES) this.#giveUp(why);
  }

  #giveUp(why: string): void {
    this.note('ends');
    warnOnceHere(`${why}. Check batch-path. Files are sent one by one.`);
  }
}

/** Returns the answers of all files, as those of single calls; `undefined` for one that is not valid. Throws `bad-response`. */
function answersOf(answer: Answer, count: number): readonly (Answer | undefined)[] {
  const { answers } = Object(answer.body) as { readonly answers?: unknown };
  if (!Array.isArray(answers) || answers.length !== count)
    throw new UploaderError('bad-response', 'The response to a batch has not one answer for each file', {
      status: answer.status,
    });
  return answers.map((own) => answerOf(own, answer));
}

function answerOf(own: unknown, { address, header }: Answer): Answer | undefined {
  const { status, body, retry_after } = Object(own) as Record<string, unknown>;
  if (!Number.isInteger(status) || Number(status) < 200 || Number(status) > 599) return undefined;
  return {
    status: Number(status),
    address,
    body,
    isEmpty: body === undefined || body === null,
    header: (name) => {
      // `Date` is the same for all files. Every other header is of the request.
      if (/^date$/i.test(name)) return header(name);
      return /^retry-after$/i.test(name) && typeof retry_after === 'number' ? String(retry_after) : null;
    },
  };
}

/** Returns a signal that aborts when all of `signals` have, unless `over` aborts before. */
function whenAllAbort(signals: readonly AbortSignal[], over: AbortSignal): AbortSignal {
  const all = new AbortController();
  const look = (): void => {
    if (signals.every(({ aborted }) => aborted)) all.abort(signals[0]?.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', look, { signal: over });
  look();
  return all.signal;
}

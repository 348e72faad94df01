// Sends the calls of many small files in one request (`batch-path`, U22). Each file gets its own answer, as from a single call.

import { UploaderError } from '../core/errors.ts';
import { Lane } from '../core/lane.ts';
import { abortable, sleep, whenSettled } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { ANSWER_BYTES, answersOf, areMixed, isOk, isSessionInBody } from './batch-answers.ts';
import { type FileCall, type Kind, type SharedRules, whenAllAbort } from './batch-calls.ts';
import { BatchSize } from './batch-size.ts';
import { ALONE_AT_ONCE, ASKING, type Trust, type TrustEvent, trustAfter } from './batch-trust.ts';
import type { Answer } from './http.ts';
import type { Meaning } from './profile.ts';

/**
 * Time from the start of a request to the next one, unless that one is full: calls that come meanwhile share it. Each request that
 * still runs doubles it, so that the calls to a slow service gather, and none waits for a request that hangs.
 */
const SPACING_MS = 200;
const LONGEST_SPACING_MS = 5000;
/** Errors of a request without an answer, which may concern all calls. */
const NO_ANSWER = ['network', 'offline', 'timeout'];
/** Meanings of statuses after which single calls are repeated. */
const OUTAGES: readonly Meaning[] = ['retry', 'slow-down', 'full', 'unsupported'];
/** Statuses of a service that does not know batches. */
const UNKNOWN_STATUSES = [404, 405, 501];
/** A call that goes alone and takes longer no longer counts. */
const ALONE_MS = 2000;
/** Most single calls that run longer than that while the others wait for one that succeeds. */
const MOST_SLOW = 5;
/** Number of batches in a row without a valid answer after which files go alone. */
const MOST_FAILURES = 3;
/** Number of batches that may fail before a file of both goes alone: it may be the reason. */
const MOST_LOSSES = 2;
/** Time that calls have to be prepared, in milliseconds. The others of their batch do not wait longer. */
const PREPARE_MS = 200;

/** What becomes of a call after its batch. `again`: a single call has to tell first whether the token is refused. */
type Outcome = Answer | 'alone' | 'again';

interface WaitingCall extends FileCall {
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (reason: unknown) => void;
  readonly onAbort: () => void;
}

interface Rules extends Omit<SharedRules, 'commitPatience' | 'sessionOf'> {
  readonly kind: Kind;
  readonly patience: number;
  /** Returns false if an answer says that one in a batch cannot be enough. */
  readonly suits?: (answer: Answer) => boolean;
  /** Called when a batch has been answered, or when the service has none. */
  readonly onNews: (event: 'proves' | 'ends') => void;
}

/** Creates the batches of a service. */
export function createBatches({ commitPatience, sessionOf, ...rules }: SharedRules): Record<Kind, Batches> {
  const open: Batches = new Batches({
    ...rules,
    kind: 'open',
    patience: 1,
    suits: (answer) => isSessionInBody(answer, sessionOf),
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

/** Gathers the calls of one kind. While it is not known that the service works, single calls find out, and the others wait. */
export class Batches {
  readonly #rules: Rules;
  readonly #waitingCalls = new Set<WaitingCall>();
  readonly #lane = new Lane(ALONE_AT_ONCE, ALONE_MS);
  #trust: Trust = 'new';
  /** Single calls that run while the others wait, and those of them that take too long to wait for. */
  readonly #askingCalls = new Set<WaitingCall>();
  readonly #slowCalls = new Set<WaitingCall>();
  readonly #preparedCalls = new WeakSet<WaitingCall>();
  /** Number of batches of each upload that have failed, by its signal. */
  readonly #lossCounts = new WeakMap<AbortSignal, number>();
  readonly #size = new BatchSize();
  /** Number of requests in a row without a valid answer. */
  #failureCount = 0;
  #runningCount = 0;
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
    this.#trust = trustAfter(this.#trust, event);
    this.#startSoon();
  }

  /** Resolves with the answer for this file. Rejects like `Send`. */
  ask(call: FileCall): Promise<Answer> {
    const isFirst = this.#trust === 'new';
    if (!isFirst && !(this.gathers && call.fields)) return call.sendAlone();
    if ((this.#lossCounts.get(call.signal) ?? 0) >= MOST_LOSSES) return this.#sendAlone(call);
    return new Promise<Answer>((resolve, reject) => {
      const onAbort = (): void => {
        this.#leave(waitingCall);
        reject(call.signal.reason);
      };
      const waitingCall: WaitingCall = { ...call, resolve, reject, onAbort };
      this.#wait(waitingCall);
      if (isFirst) this.#start();
    });
  }

  #wait(call: WaitingCall): void {
    const { signal, onAbort } = call;
    if (signal.aborted) {
      onAbort();
      return;
    }
    this.#waitingCalls.add(call);
    signal.addEventListener('abort', onAbort);
    this.#startSoon();
  }

  #leave(call: WaitingCall): void {
    this.#waitingCalls.delete(call);
    call.signal.removeEventListener('abort', call.onAbort);
    if (this.#waitingCalls.size === 0) clearTimeout(this.#timer);
  }

  /** Takes the calls with this token that have waited longest. */
  #take(token: string | undefined, count?: number): WaitingCall[] {
    const calls = [...this.#waitingCalls].filter((call) => call.token === token).slice(0, count);
    for (const call of calls) this.#leave(call);
    return calls;
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
    for (let [oldestCall] = this.#waitingCalls; oldestCall; [oldestCall] = this.#waitingCalls) {
      const { token } = oldestCall;
      if (this.#trust === 'absent') for (const call of this.#take(token)) call.resolve(this.#sendAlone(call));
      else if (!this.works) {
        const mayAsk =
          this.#askingCalls.size < (ASKING[this.#trust] ?? 0) && this.#slowCalls.size < MOST_SLOW;
        if (!mayAsk) return;
        for (const call of this.#take(token, 1)) void this.#askAlone(call);
      } else {
        const remainingMs = this.#remainingMs();
        if (remainingMs > 0) {
          this.#timer = setTimeout(() => this.#start(), remainingMs);
          return;
        }
        void this.#request(this.#take(token, this.#size.nextCount));
      }
    }
  }

  /** Returns the time until the next request starts, in milliseconds. */
  #remainingMs(): number {
    if (this.#size.isFull(this.#waitingCalls.size)) return 0;
    const spacingMs = Math.min(SPACING_MS * 2 ** this.#runningCount, LONGEST_SPACING_MS);
    return this.#startedMs + spacingMs - performance.now();
  }

  /** Makes a call alone, from which the others that wait learn whether the service works. */
  async #askAlone(call: WaitingCall): Promise<void> {
    this.note('asks');
    this.#askingCalls.add(call);
    const timer = setTimeout(() => {
      this.#askingCalls.delete(call);
      this.#slowCalls.add(call);
      this.#start();
    }, ALONE_MS);
    const pendingAnswer = call.sendAlone();
    call.resolve(pendingAnswer);
    try {
      // The others do not wait for a call that its file no longer needs.
      this.#learn(call, await abortable(pendingAnswer, call.signal));
    } catch (error) {
      if (!call.signal.aborted) this.#learnFromError(call, error);
    }
    clearTimeout(timer);
    this.#askingCalls.delete(call);
    this.#slowCalls.delete(call);
    this.#startSoon();
  }

  #learn({ token }: WaitingCall, answer: Answer): void {
    const { isFromElsewhere, meaningOf, suits } = this.#rules;
    const meaning = meaningOf(answer);
    if (isOk(answer)) {
      if (!suits || suits(answer)) this.note('succeeds');
      else this.#giveUp('The session is in a header of the response, which no answer in a batch has');
    } else if (meaning === 'token' || meaning === 'slow-down' || meaning === 'retry') {
      if (meaning === 'retry') this.note('fails');
      this.#share(token, ({ resolve }) => resolve(answer));
    } else this.note(suits || isFromElsewhere(answer) ? 'refuses' : 'succeeds');
  }

  #learnFromError({ token }: WaitingCall, error: unknown): void {
    const isOutage = error instanceof UploaderError && NO_ANSWER.includes(error.code);
    this.note(isOutage ? 'fails' : 'refuses');
    if (isOutage) this.#share(token, ({ reject }) => reject(error));
  }

  /** Ends the calls that wait like the one that was made for all of them: the service would have to refuse each. */
  #share(token: string | undefined, end: (call: WaitingCall) => void): void {
    if (this.works || this.#trust === 'absent') return;
    for (const call of this.#take(token)) end(call);
  }

  async #request(takenCalls: readonly WaitingCall[]): Promise<void> {
    this.#runningCount += 1;
    this.#startedMs = performance.now();
    const readyCalls = await this.#prepare(takenCalls);
    const calls = readyCalls.filter(({ signal }) => !signal.aborted);
    for (const call of readyCalls) if (call.signal.aborted) call.reject(call.signal.reason);
    if (calls.length > 0) {
      const answers = this.#exchange(calls);
      // The answer to a call that is no longer needed is dropped, and the others still get theirs.
      for (const [index, call] of calls.entries()) {
        const answerOfCall = answers.then((outcomes) => this.#answerOf(call, outcomes[index]));
        call.resolve(abortable(answerOfCall, call.sentSignal ?? call.signal));
      }
      await whenSettled(answers);
    }
    this.#runningCount -= 1;
    this.#startSoon();
  }

  /** Resolves with the calls that are ready to be sent. The others have requests of their own as soon as they are, or fail. */
  async #prepare(calls: readonly WaitingCall[]): Promise<readonly WaitingCall[]> {
    if (!calls.some(({ onSend }) => onSend)) return calls;
    const readyCalls: WaitingCall[] = [];
    let isLate = false;
    const preparations = calls.map(async (call) => {
      try {
        if (!this.#preparedCalls.has(call)) await call.onSend?.();
        this.#preparedCalls.add(call);
        if (isLate) void this.#request([call]);
        else readyCalls.push(call);
      } catch (error) {
        call.reject(error);
      }
    });
    const endController = new AbortController();
    await Promise.race([Promise.all(preparations), sleep(PREPARE_MS, endController.signal)]);
    endController.abort();
    isLate = true;
    return readyCalls;
  }

  /** Makes a call in its turn, unless its file no longer needs it then. Resolves with the answer, which may be needed longer. */
  #sendAlone({ signal, sendAlone }: FileCall): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const send = async (): Promise<void> => {
        const pendingAnswer = sendAlone();
        resolve(pendingAnswer);
        await whenSettled(pendingAnswer);
      };
      this.#lane.run(send, signal).catch(reject);
    });
  }

  #answerOf(call: FileCall, outcome: Outcome = 'alone'): Answer | Promise<Answer> {
    if (typeof outcome !== 'string') return outcome;
    return outcome === 'alone' ? this.#sendAlone(call) : this.ask(call);
  }

  async #exchange(calls: readonly WaitingCall[]): Promise<readonly Outcome[]> {
    const { send, path, kind, patience } = this.#rules;
    const endController = new AbortController();
    const signal = whenAllAbort(
      calls.map((call) => call.sentSignal ?? call.signal),
      endController.signal,
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
      return isOk(answer) ? this.#read(calls, answer) : this.#readRefusal(calls, answer);
    } catch (error) {
      if (!signal.aborted) this.#noteError(calls, error);
      throw error;
    } finally {
      endController.abort();
    }
  }

  /** Reads a 2xx response. Throws `bad-response` if it is not JSON. */
  #read(calls: readonly WaitingCall[], answer: Answer): readonly Outcome[] {
    const answers = answersOf(answer, calls.length);
    if (!answers) {
      this.#noteFailure(`The response to a batch has not one answer for each file: ${answer.address}`);
      return calls.map(() => 'alone');
    }
    if (areMixed(answers, calls)) {
      this.#giveUp(`The answers to a batch are not in the order of its files: ${answer.address}`);
      this.#rules.onNews('ends');
      return calls.map(() => 'alone');
    }
    this.#failureCount = 0;
    this.#rules.onNews('proves');
    this.#size.grow();
    const { isFromElsewhere, meaningOf } = this.#rules;
    // A refused token is refused for all files. The status of one file must not take the token from the others.
    const isOwn = (fileAnswer: Answer): boolean =>
      meaningOf(fileAnswer) !== 'token' && !isFromElsewhere(fileAnswer);
    return answers.map((fileAnswer) => (fileAnswer && isOwn(fileAnswer) ? fileAnswer : 'alone'));
  }

  #readRefusal(calls: readonly WaitingCall[], answer: Answer): readonly Outcome[] {
    const { address, status } = answer;
    const meaning = this.#rules.meaningOf(answer);
    const message = `The service responded with ${status} to a batch: ${address}`;
    if (meaning === 'token') {
      this.#doubt(message);
      return calls.map(() => 'again');
    }
    if (meaning === 'slow-down') this.#noteLimit(calls.length, message);
    if (UNKNOWN_STATUSES.includes(status) && meaning !== 'retry' && meaning !== 'slow-down') {
      this.#giveUp(message);
      this.#rules.onNews('ends');
    } else if (OUTAGES.includes(meaning)) {
      if (meaning !== 'slow-down') this.#noteOutage(calls, message);
      return calls.map(() => answer);
    } else if (meaning !== 'too-large') this.#noteFailure(message);
    else if (!this.#size.limitBelow(calls.length)) this.#giveUp(message);
    return calls.map(() => 'alone');
  }

  #noteError(calls: readonly WaitingCall[], error: unknown): void {
    if (!(error instanceof UploaderError) || error.code === 'offline' || error.code === 'bad-config') return;
    this.#noteOutage(calls, error.message);
  }

  /** A single call tells next whether the service works. If so, the batch failed: because of its size, of a file, or for good. */
  #noteOutage(calls: readonly WaitingCall[], reason: string): void {
    this.#size.halve(calls.length, 2);
    for (const { signal } of calls) this.#lossCounts.set(signal, (this.#lossCounts.get(signal) ?? 0) + 1);
    this.#doubt(reason);
  }

  #doubt(reason: string): void {
    // Of the batches that ran when one failed, only that one counts: one lost connection may carry all of them.
    if (!this.works) return;
    this.note('loses');
    this.#noteFailure(reason);
  }

  /** The service may count files, and take fewer. A single call tells next whether it takes any. */
  #noteLimit(count: number, reason: string): void {
    this.#size.halve(count, 1);
    if (!this.works) return;
    this.note('loses');
    if (count === 1) this.#noteFailure(reason);
  }

  /** One file may be the reason, so batches continue until several in a row have failed. */
  #noteFailure(reason: string): void {
    this.#failureCount += 1;
    if (this.#failureCount >= MOST_FAILURES) this.#giveUp(reason);
  }

  #giveUp(reason: string): void {
    this.note('ends');
    warnOnceHere(`${reason}. Check batch-path. Files are sent one by one.`);
  }
}

// A service whose responses the test sets, so that a test reads like a protocol trace. `nextRequest('put')` returns a request.
// The test responds with `answer()` or `refuse()` of the request. `answerAll()` responds to further requests automatically.

import { UploaderError } from '../../src/core/errors.ts';
import type { Calls, CommitAnswer, Put, Session, Ticket, TicketUpload } from '../../src/core/types.ts';
import { sha256 } from './bytes.ts';
import { waits } from './waits.ts';

interface Asked {
  open: Parameters<Calls['openSession']>[0];
  presign: { readonly session: Session; readonly hashes: readonly string[] };
  put: {
    readonly upload: TicketUpload;
    readonly body: Blob;
    readonly hash: string;
    /** Reports that `sentBytes` of the body were sent. */
    readonly tell: (sentBytes: number) => void;
  };
  commit: {
    readonly session: Session;
    readonly hashes: readonly string[];
    readonly receipts: readonly string[];
    readonly fileHash?: string | undefined;
    readonly patience: number | undefined;
  };
  cancel: { readonly session: Session };
}

interface Answers {
  open: Session;
  presign: ReadonlyMap<string, Ticket>;
  put: undefined;
  commit: CommitAnswer;
  cancel: undefined;
}

export type Kind = keyof Asked;

/** A request that waits for its response. `answer()` without a value gives a valid response. */
export type Request<K extends Kind = Kind> = Asked[K] & {
  readonly kind: K;
  readonly signal: AbortSignal;
  answer(value?: Answers[K]): void;
  refuse(error: UploaderError): void;
};

type Waiting = { readonly kind: Kind | undefined; readonly take: (request: Request) => void };

export class ScriptedService {
  /** Hashes of stored chunks. */
  readonly stored = new Set<string>();
  /** One line for each request, oldest first: `open`, `presign 4`, `put`, `commit 3`, `cancel`. */
  readonly log: string[] = [];
  /** Hashes of all PUTs, in order of arrival. */
  readonly puts: string[] = [];
  /** Number of PUTs that are running now, and the maximum so far. */
  putCount = 0;
  mostPuts = 0;
  /** True if the service never reports chunks as stored (U4). */
  isForgetful = false;
  /** Lifetime of tickets in milliseconds; undefined if tickets do not expire. */
  ticketLifeMs: number | undefined;
  readonly #automatic = new Set<Kind>();
  readonly #requests: Request[] = [];
  readonly #waiting: Waiting[] = [];
  #sessionCount = 0;
  #ticketCount = 0;

  /** Responds immediately to waiting and future requests of these kinds. By default, to requests of all kinds. */
  answerAll(...kinds: Kind[]): this {
    const wanted: readonly Kind[] = kinds.length > 0 ? kinds : ['open', 'presign', 'put', 'commit', 'cancel'];
    for (const kind of wanted) this.#automatic.add(kind);
    for (const request of this.#requests.filter(({ kind }) => this.#automatic.has(kind))) {
      this.#drop(request);
      request.answer();
    }
    return this;
  }

  /** Takes requests of one kind and calls `respond` with each, one after another. Never resolves. */
  async serve<K extends Kind>(kind: K, respond: (request: Request<K>) => unknown): Promise<never> {
    for (;;) await respond(await this.nextRequest(kind));
  }

  /** Refuses requests of this kind until the session counts as lost. */
  async refuseAll(kind: Kind, error: UploaderError, count = 4): Promise<void> {
    for (let refused = 0; refused < count; refused += 1) (await this.nextRequest(kind)).refuse(error);
  }

  /** Ends the immediate responses to requests of these kinds, so that they wait for the test again. */
  hold(...kinds: Kind[]): this {
    for (const kind of kinds) this.#automatic.delete(kind);
    return this;
  }

  /**
   * Returns the oldest request that the test has not taken, and waits if there is none. With `kind`, only requests of this kind.
   */
  nextRequest<K extends Kind>(kind?: K): Promise<Request<K>> {
    const found = this.#requests.find((request) => kind === undefined || request.kind === kind);
    if (found) {
      this.#drop(found);
      return Promise.resolve(found as unknown as Request<K>);
    }
    const says = (): string => `a ${kind ?? 'request'} after ${this.log.join(', ') || 'none'}`;
    waits.add(says);
    return new Promise((resolve) => {
      const take = (request: Request): void => {
        waits.delete(says);
        resolve(request as unknown as Request<K>);
      };
      this.#waiting.push({ kind, take });
    });
  }

  /** Returns all requests that the test has not taken. With `kind`, only requests of this kind. */
  waiting(kind?: Kind): readonly Request[] {
    return this.#requests.filter((request) => kind === undefined || request.kind === kind);
  }

  /** Returns the number of requests of a kind. */
  count(kind: Kind): number {
    return this.log.filter((line) => line === kind || line.startsWith(`${kind} `)).length;
  }

  readonly calls: Required<Omit<Calls, 'isBatching' | 'takeTickets'>> = {
    openSession: (input, signal) => this.#ask('open', 'open', input, signal, () => this.#newSession()),
    presign: (session, chunks, signal) => {
      const hashes = chunks.map(({ hash }) => hash);
      return this.#ask('presign', `presign ${hashes.length}`, { session, hashes }, signal, () =>
        this.tickets(hashes),
      );
    },
    commit: async (session, proof, signal, { onSend, patience } = {}) => {
      await onSend?.();
      const asked = { session, ...proof, patience };
      return this.#ask('commit', `commit ${proof.hashes.length}`, asked, signal, () => ({
        missing: proof.hashes.filter((hash) => !this.stored.has(hash)),
        body: { file_id: 'file-1' },
      }));
    },
    cancel: (session, signal) => this.#ask('cancel', 'cancel', { session }, signal, () => undefined),
  };

  readonly put: Put = async (upload, body, { signal, onProgress, connectionChange }) => {
    const change = connectionChange?.() ?? new AbortController().signal;
    const hash = new URL(upload.url).pathname.slice(1);
    this.puts.push(hash);
    this.putCount += 1;
    this.mostPuts = Math.max(this.mostPuts, this.putCount);
    const asked = { upload, body, hash, tell: (sentBytes: number) => onProgress?.(sentBytes) };
    try {
      await this.#ask('put', 'put', asked, AbortSignal.any([signal, change]), () => {
        onProgress?.(body.size);
        return undefined;
      }).catch((error: unknown) => {
        throw error === change.reason ? new UploaderError('network', 'the network has changed') : error;
      });
      const sent = await sha256(body).catch((cause) => {
        // The error of a browser that cannot read a body.
        throw new UploaderError('network', 'no line', { cause });
      });
      if (sent !== hash) throw new Error('bytes were sent that have another hash than their ticket');
      this.stored.add(hash);
    } finally {
      this.putCount -= 1;
    }
  };

  /**
   * Returns a ticket for each hash, with a receipt. A ticket also has a unique URL, unless the service reports the chunk as stored
   * (U4).
   */
  tickets(hashes: readonly string[]): ReadonlyMap<string, Ticket> {
    return new Map(hashes.map((hash) => [hash, this.#ticket(hash)]));
  }

  #ticket(hash: string): Ticket {
    this.#ticketCount += 1;
    const receipt = `receipt-${this.#ticketCount}`;
    if (this.stored.has(hash) && !this.isForgetful) return { receipt };
    const receivedAtMs = performance.now();
    const life = this.ticketLifeMs;
    return {
      receipt,
      upload: {
        url: `https://store.test/${hash}?ticket=${this.#ticketCount}`,
        method: 'PUT',
        headers: {},
        ...(life !== undefined && { receivedAtMs, expiresAtMs: receivedAtMs + life }),
      },
    };
  }

  #newSession(): Session {
    this.#sessionCount += 1;
    return { sessionId: `session-${this.#sessionCount}`, header: `header-${this.#sessionCount}` };
  }

  #ask<K extends Kind>(
    kind: K,
    line: string,
    asked: Asked[K],
    signal: AbortSignal,
    inOrder: () => Answers[K],
  ): Promise<Answers[K]> {
    this.log.push(line);
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const request = {
        ...asked,
        kind,
        signal,
        answer: (...given: [] | [Answers[K]]) =>
          resolve(given.length > 0 ? (given[0] as Answers[K]) : inOrder()),
        refuse: reject,
      } as unknown as Request;
      signal.addEventListener('abort', () => {
        this.#drop(request);
        reject(signal.reason);
      });
      if (this.#automatic.has(kind)) {
        request.answer();
        return;
      }
      const at = this.#waiting.findIndex((waiting) => waiting.kind === undefined || waiting.kind === kind);
      const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (waiting) waiting.take(request);
      else this.#requests.push(request);
    });
  }

  #drop(request: Request): void {
    const at = this.#requests.indexOf(request);
    if (at >= 0) this.#requests.splice(at, 1);
  }
}

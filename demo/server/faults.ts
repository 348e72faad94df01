// Faults, network shape and request log for tests. request-gate.ts and storage-server.ts apply them.

/** The operations that a fault or a log entry can name. */
export type Operation =
  | 'session'
  | 'chunks'
  | 'put'
  | 'commit'
  | 'cancel'
  | 'token'
  | 'login'
  | 'challenge'
  | 'logout'
  | 'authorize'
  | 'download'
  | 'list'
  | 'preflight'
  | 'other';

/** Several faults on one request add up. */
export interface Fault {
  operation: Operation | '*';
  /** Number of requests that it applies to (default: 1). `Infinity`, or -1 in JSON, for all. */
  times?: number;
  /** How many matching requests pass first. */
  skip?: number;
  /** Only requests for this chunk, this file name, or several chunks. */
  match?: { hash?: string; fileName?: string; several?: boolean };
  /** Waits before the request is handled. */
  delayMs?: number;
  /** Waits for this, too; for tests in the same process. */
  waitFor?: Promise<unknown>;
  /** Answers this instead of handling the request. */
  status?: number;
  body?: string | object;
  contentType?: string;
  /** Headers added to the answer. */
  headers?: Record<string, string>;
  /**
   * Destroys the connection: before anything is handled; half-way (of the bytes that come in for `put`, of the answer
   * for others); after all was handled, so that only the answer is lost; or in the middle of the answer.
   */
  cut?: 'before-body' | 'mid-body' | 'after-body' | 'mid-answer';
  /** Stops half-way (as `mid-body`) for this time, then continues. */
  stallMs?: number;
  /** Stops half-way and never continues. */
  stall?: boolean;
  /** `chunks`: returns URLs that have expired, without a visible expiry. */
  expireTickets?: boolean;
  /** `chunks`: returns URLs that were signed for another chunk. */
  wrongTicket?: boolean;
  /** `chunks`: leaves the first hash out of the answer. */
  omitEntry?: boolean;
  /** `session`: adds these fields to the answer. */
  answerFields?: Record<string, unknown>;
  /** `commit`: checks everything, creates no file yet and answers 202. */
  pending?: boolean;
  /** `put`: answers 200 and stores nothing. */
  storeNothing?: boolean;
  /** Answers 307 to this address. */
  redirect?: string;
  /** The answer carries no CORS headers, so that a browser sees only a network error. */
  withoutCors?: boolean;
}

/** Missing or 0: no limit. */
export interface NetworkShape {
  /** Wait before every request, preflights too. */
  latencyMs?: number;
  /** Limit of one connection. */
  bytesPerSecond?: number;
  /** Limit of all connections together. */
  totalBytesPerSecond?: number;
}

/** A log entry. It never has a body, a token or the query of a URL. */
export interface LogEntry {
  /** Arrival, ms since 1970. */
  at: number;
  server: 'service' | 'storage' | 'idp';
  operation: Operation;
  method: string;
  path: string;
  origin: string | undefined;
  referer: string | undefined;
  /** Names of the request's headers. */
  headers: string[];
  hasBearer: boolean;
  /** Number of the bearer, from 1 in order of first use; missing without a bearer. */
  bearerNumber?: number;
  hasCookie: boolean;
  /** Names of the fields of a JSON body. */
  fields?: string[];
  sessionId?: string;
  fileName?: string;
  /** The chunk of a `put`. */
  hash?: string;
  /** The chunks of a `chunks` or `commit`. */
  hashes?: string[];
  /** The chunks of a `chunks` that got a URL (the others were stored already). */
  presigned?: string[];
  sizeBytes?: number;
  /** Missing while the request is handled. */
  status?: number;
  /** `put`: the chunk is stored, even if the answer did not arrive. */
  stored?: boolean;
  /** The whole answer was handed to the connection. */
  answered: boolean;
  /** When it was, ms since 1970. */
  answeredAt?: number;
  /** The connection closed before the answer was sent. */
  broken?: boolean;
}

export interface StruckRequest {
  operation: Operation;
  hashes?: string[];
  fileName?: string | undefined;
}

/** Faults, network and log of one service; without test mode it does nothing. */
export interface Faults {
  readonly enabled: boolean;
  /** Returns a function that removes the fault. Throws if it is not a fault. */
  add(fault: Fault): () => void;
  clear(): void;
  /** Calls `choose` for every request; its fault is added to the others. `clear` ends it. */
  choose(choose: (request: StruckRequest) => Partial<Fault> | undefined): void;
  /** `shape({})` removes the limits. */
  shape(network: NetworkShape): void;
  readonly network: Readonly<NetworkShape>;
  /** True if a fault is set for this operation, so that the body must be read. */
  isWaiting(operation: Operation): boolean;
  /** The faults for this request, merged; counts them down. */
  strike(request: StruckRequest): Partial<Fault>;
  /** Names of files by upload session, so that a `put` can be matched by name. */
  readonly fileNames: Map<string, string>;
  /** All requests since the start or the last `clearLog`, oldest first. */
  readonly log: LogEntry[];
  clearLog(): void;
  /** Adds an entry; `authorization` is that header of its request, of which only a number is kept in the entry. */
  record(entry: LogEntry, authorization?: string): void;
}

interface Armed {
  fault: Fault;
  left: number;
  skip: number;
}

export function createFaults(enabled: boolean): Faults {
  let armed: Armed[] = [];
  let chosen: ((request: StruckRequest) => Partial<Fault> | undefined) | undefined;
  let network: NetworkShape = {};
  const log: LogEntry[] = [];
  const bearers = new Map<string, number>();
  const numberOf = (bearer: string): number => {
    const number = bearers.get(bearer) ?? bearers.size + 1;
    bearers.set(bearer, number);
    return number;
  };
  return {
    enabled,
    log,
    fileNames: new Map(),
    add(fault) {
      if (!enabled) throw new Error('faults are for test mode only');
      if (typeof fault !== 'object' || fault === null || typeof fault.operation !== 'string') {
        throw new TypeError('a fault names an operation');
      }
      const times = fault.times ?? 1;
      const entry: Armed = { fault, left: times < 0 ? Infinity : times, skip: fault.skip ?? 0 };
      armed.push(entry);
      return () => {
        armed = armed.filter((other) => other !== entry);
      };
    },
    choose(choose) {
      if (!enabled) throw new Error('faults are for test mode only');
      chosen = choose;
    },
    clear() {
      armed = [];
      chosen = undefined;
    },
    shape(shape) {
      if (!enabled) throw new Error('the network is shaped in test mode only');
      network = { ...shape };
    },
    get network() {
      return network;
    },
    isWaiting: (operation) => armed.some(({ fault }) => matches(fault.operation, operation)),
    strike({ operation, hashes = [], fileName }) {
      let result: Partial<Fault> = {};
      for (const entry of armed) {
        const { match } = entry.fault;
        if (!matches(entry.fault.operation, operation)) continue;
        if (match?.hash !== undefined && !hashes.includes(match.hash)) continue;
        if (match?.fileName !== undefined && match.fileName !== fileName) continue;
        if (match?.several && hashes.length < 2) continue;
        if (entry.skip > 0) {
          entry.skip -= 1;
          continue;
        }
        entry.left -= 1;
        result = { ...result, ...entry.fault };
      }
      armed = armed.filter((entry) => entry.left > 0);
      return { ...result, ...chosen?.({ operation, hashes, fileName }) };
    },
    clearLog() {
      log.length = 0;
    },
    record(entry, authorization) {
      if (!enabled) return;
      if (entry.hasBearer && authorization !== undefined) entry.bearerNumber = numberOf(authorization);
      log.push(entry);
    },
  };
}

function matches(wanted: Fault['operation'], operation: Operation): boolean {
  return wanted === operation || (wanted === '*' && operation !== 'preflight');
}

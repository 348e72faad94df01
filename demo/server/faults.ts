// Fault injection, network throttling and the request log, for tests. request-gate.ts and storage-server.ts apply them.

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

/** A fault to inject. If several match one request, they are merged. */
export interface Fault {
  operation: Operation | '*';
  /** Number of requests that it applies to. Defaults to 1; `Infinity`, or -1 in JSON, applies it to all. */
  times?: number;
  /** Number of matching requests to leave unchanged first. */
  skip?: number;
  /** Applies only to requests for this chunk, for this file name, or for more than one chunk. */
  match?: { hash?: string; fileName?: string; several?: boolean };
  /** Delay before the request is handled. */
  delayMs?: number;
  /** Also delays the request until this promise settles. For tests in the same process. */
  waitFor?: Promise<unknown>;
  /** Responds with this status instead of handling the request. */
  status?: number;
  body?: string | object;
  contentType?: string;
  /** Headers to add to the response. */
  headers?: Record<string, string>;
  /**
   * Closes the connection. `before-body`: before the request is handled. `mid-body`: halfway through the request body for `put`,
   * halfway through the response for the others. `after-body`: after the request is handled, before the response. `mid-answer`:
   * halfway through the response.
   */
  cut?: 'before-body' | 'mid-body' | 'after-body' | 'mid-answer';
  /** Pauses at the same point as `mid-body` for this time, then continues. */
  stallMs?: number;
  /** Stops at the same point as `mid-body` and never continues. */
  stall?: boolean;
  /** `chunks`: returns expired URLs without an `Expires` parameter. */
  expireTickets?: boolean;
  /** `chunks`: returns URLs that were signed for another chunk. */
  wrongTicket?: boolean;
  /** `chunks`: omits the first hash from the response. */
  omitEntry?: boolean;
  /** `session`: adds these fields to the response. */
  answerFields?: Record<string, unknown>;
  /** `commit`: makes all checks, creates no file and responds with 202. */
  pending?: boolean;
  /** `put`: responds with 200 and stores nothing. */
  storeNothing?: boolean;
  /** Responds with a 307 redirect to this URL. */
  redirect?: string;
  /** Omits the CORS headers, so that a browser reports a network error. */
  withoutCors?: boolean;
}

/** Network throttling. A value that is missing or 0 means no limit. */
export interface NetworkShape {
  /** Delay before every request, including preflights. */
  latencyMs?: number;
  /** Limit per connection. */
  bytesPerSecond?: number;
  /** Limit for all connections together. */
  totalBytesPerSecond?: number;
}

/** A logged request. Never contains a body, a token or the query of a URL. */
export interface LogEntry {
  /** Time of arrival, in ms since 1970. */
  at: number;
  server: 'service' | 'storage' | 'idp';
  operation: Operation;
  method: string;
  path: string;
  origin: string | undefined;
  referer: string | undefined;
  /** Names of the request headers. */
  headers: string[];
  hasBearer: boolean;
  /** Identifies the bearer token: 1 for the first token that was used, 2 for the next. Missing if there was none. */
  bearerNumber?: number;
  hasCookie: boolean;
  /** Names of the fields in a JSON body. */
  fields?: string[];
  sessionId?: string;
  fileName?: string;
  /** `put`: the hash of the chunk. */
  hash?: string;
  /** `chunks` and `commit`: the hashes in the request. */
  hashes?: string[];
  /** `chunks`: the hashes that got a URL; the others were already stored. */
  presigned?: string[];
  sizeBytes?: number;
  /** Missing until the request has been handled. */
  status?: number;
  /** `put`: true if the chunk is stored, even if the response was lost. */
  stored?: boolean;
  /** True after the complete response was written to the connection. */
  answered: boolean;
  /** Time of that, in ms since 1970. */
  answeredAt?: number;
  /** True if the connection closed before the response was sent. */
  broken?: boolean;
}

export interface StruckRequest {
  operation: Operation;
  hashes?: string[];
  fileName?: string | undefined;
}

/** Faults, throttling and log of one service. Has no effect outside test mode. */
export interface Faults {
  readonly enabled: boolean;
  /** Adds a fault. Returns a function that removes it. Throws if the fault is not valid. */
  add(fault: Fault): () => void;
  clear(): void;
  /** Calls `choose` for every request and merges the fault that it returns. `clear` removes it. */
  choose(choose: (request: StruckRequest) => Partial<Fault> | undefined): void;
  /** Sets the network throttling. `shape({})` removes it. */
  shape(network: NetworkShape): void;
  readonly network: Readonly<NetworkShape>;
  /** True if a fault is set for this operation. The body must be read then, to match the fault. */
  isWaiting(operation: Operation): boolean;
  /** Returns the merged faults for this request, and counts their uses. */
  strike(request: StruckRequest): Partial<Fault>;
  /** File names by upload session id, to match a `put` by file name. */
  readonly fileNames: Map<string, string>;
  /** The requests since the start or the last `clearLog`, oldest first. */
  readonly log: LogEntry[];
  clearLog(): void;
  /** Adds an entry. `authorization` is the header of the request; the entry has only its number (`bearerNumber`). */
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

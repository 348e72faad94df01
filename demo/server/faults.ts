// Test mode: fault injection, network throttling and the request log. request-gate.ts and storage-gate.ts apply them.

/** The operations that a fault or a log entry can name. */
export type Operation =
  | 'session'
  | 'chunks'
  | 'put'
  | 'commit'
  | 'batch'
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

/** What a batch does with its files. */
export type BatchKind = 'open' | 'commit';

/** A fault to inject. Faults that match the same request are merged. */
export interface Fault {
  operation: Operation | '*';
  /** Number of requests that the fault applies to. Defaults to 1. `Infinity`, or -1 in JSON, means all requests. */
  times?: number;
  /** Number of matching requests that pass unchanged before the fault applies. */
  skip?: number;
  /**
   * Limits the fault to requests with this chunk hash, with this file name, for more than one chunk (`several`), or to batches of
   * this kind with one of these files.
   */
  match?: { hash?: string; fileName?: string; several?: boolean; kind?: BatchKind; fileNames?: string[] };
  /** Delay before the request is handled. */
  delayMs?: number;
  /** Promise to wait for before the request is handled. For tests in the same process. */
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
  /** Length of a pause at the point of `mid-body`, after which the transfer continues, or is cut. */
  stallMs?: number;
  /** Stops the transfer at the point of `mid-body`. The connection stays open. */
  stall?: boolean;
  /** For `chunks`: returns expired URLs without an `Expires` parameter. */
  expireTickets?: boolean;
  /** For `chunks`: returns URLs that were signed for another chunk. */
  wrongTicket?: boolean;
  /** For `chunks`: omits the first hash from the response. */
  omitEntry?: boolean;
  /** For `session` and `batch`: adds these fields to the response. */
  answerFields?: Record<string, unknown>;
  /** For `commit` and `batch`: responds with 202 after all checks, and creates no file. */
  pending?: boolean;
  /** For `put`: responds with 200 and stores nothing. */
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
  /** Limit for each request. */
  bytesPerSecond?: number;
  /** Limit for all requests together. */
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
  /** Number of the bearer token: 1 for the first token that was used, 2 for the second. Missing without a bearer token. */
  bearerNumber?: number;
  hasCookie: boolean;
  /** Names of the fields in a JSON body. */
  fields?: string[];
  sessionId?: string;
  fileName?: string;
  /** For `put`: the hash of the chunk. */
  hash?: string;
  /** For `chunks`, `commit` and `batch`: the hashes in the request. */
  hashes?: string[];
  /** For `batch`: what it does, the number of its files, and their names. */
  kind?: BatchKind;
  files?: number;
  fileNames?: string[];
  /** For `chunks` and `batch`: the hashes that got a URL. The other chunks were already stored. */
  presigned?: string[];
  sizeBytes?: number;
  /** Missing until the request has been handled. */
  status?: number;
  /** For `put`: true if the chunk is stored, even if the response was lost. */
  stored?: boolean;
  /** True after the complete response was written to the connection. */
  answered: boolean;
  /** Time when `answered` became true, in ms since 1970. */
  answeredAt?: number;
  /** True if the connection closed before the response was sent. */
  broken?: boolean;
}

export interface StruckRequest {
  operation: Operation;
  hashes?: string[];
  fileName?: string | undefined;
  /** For `batch`. */
  kind?: BatchKind | undefined;
  fileNames?: readonly string[] | undefined;
}

/** Faults, throttling and log of one service. */
export interface Faults {
  /** Adds a fault. Returns a function that removes the fault. Throws if the fault is not valid. */
  add(fault: Fault): () => void;
  clear(): void;
  /** Sets a function that is called for every request. Its fault is merged with the others. `clear` removes the function. */
  choose(choose: (request: StruckRequest) => Partial<Fault> | undefined): void;
  /** Sets the network throttling. `shape({})` removes all limits. */
  shape(network: NetworkShape): void;
  readonly network: Readonly<NetworkShape>;
  /** Returns the merged faults for this request, and counts their uses. */
  strike(request: StruckRequest): Partial<Fault>;
  /** File names by upload session id, to match a `put` by file name. */
  readonly fileNames: Map<string, string>;
  /** The requests since the start or the last `clearLog`, oldest first. */
  readonly log: LogEntry[];
  clearLog(): void;
  /** Adds an entry to the log. `authorization` is the request header, of which the entry only gets `bearerNumber`. */
  record(entry: LogEntry, authorization?: string): void;
}

interface Armed {
  fault: Fault;
  left: number;
  skip: number;
}

const MOST_ENTRIES = 100_000;

export function createFaults(): Faults {
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
    log,
    fileNames: new Map(),
    add(fault) {
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
      chosen = choose;
    },
    clear() {
      armed = [];
      chosen = undefined;
    },
    shape(shape) {
      network = { ...shape };
    },
    get network() {
      return network;
    },
    strike({ operation, hashes = [], fileName, kind, fileNames = [] }) {
      let result: Partial<Fault> = {};
      for (const entry of armed) {
        const { match } = entry.fault;
        if (!matches(entry.fault.operation, operation)) continue;
        if (match?.hash !== undefined && !hashes.includes(match.hash)) continue;
        if (match?.fileName !== undefined && match.fileName !== fileName) continue;
        if (match?.kind !== undefined && match.kind !== kind) continue;
        if (match?.fileNames && !match.fileNames.some((name) => fileNames.includes(name))) continue;
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
      if (entry.hasBearer && authorization !== undefined) entry.bearerNumber = numberOf(authorization);
      if (log.length >= MOST_ENTRIES) log.splice(0, MOST_ENTRIES / 2); // `npm start` may run for weeks
      log.push(entry);
    },
  };
}

function matches(wanted: Fault['operation'], operation: Operation): boolean {
  return wanted === operation || (wanted === '*' && operation !== 'preflight');
}

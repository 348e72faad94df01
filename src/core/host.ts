// What is known of one origin: when requests may be sent, how long a silent PUT is given, which sizes are cut, and whether the page
// can read the responses.

import { HostBackoff } from './host-backoff.ts';
import { perOrigin } from './wait.ts';

/** How long a PUT may be without a sign of life, in milliseconds. */
export interface Patience {
  /** Until the first byte is sent. */
  readonly firstByteMs: number;
  /** From one byte to the next. */
  readonly stallMs: number;
  /** From the last byte to the response. */
  readonly answerMs: number;
  /** Number of stalls that have doubled these times. */
  readonly stallCount: number;
}

/** The longest silences of a PUT that was answered, in milliseconds. */
export interface Silences {
  /** Until the first byte was sent; until the response if no progress was reported. */
  readonly firstByteMs: number;
  /** From the last byte to the response. */
  readonly answerMs: number;
}

/** What is known of PUTs of about one size. */
interface SizeRecord {
  /** Stalls, less successes since. */
  stallCount: number;
  silences: Silences;
  /** Number of times in succession that such PUTs were cut, and the time of the last one. */
  cutCount: number;
  cutAtMs: number;
}

/** Whether the page can read the responses to PUTs. */
export interface Evidence {
  /** Size of the largest PUT with a readable response. */
  readableBytes: number;
  /**
   * Number of consecutive PUTs above `readableBytes` whose response was unreadable, although the server could be reached. Parallel
   * PUTs count once, because the same cause can end all of them.
   */
  rounds: number;
  /** The running request that finds out whether the server can be reached. PUTs that end together share it. */
  reachCheck: Promise<boolean> | undefined;
}

// Browsers send only six requests to a host at once; the others wait, but have not stalled.
const PATIENCE_BEFORE_FIRST_BYTE = 4;
// There are no progress events while the system sends its buffer and the storage processes the bytes.
const PATIENCE_FOR_ANSWER = 2;
/** Limit of a time multiplied by such a factor, in milliseconds. */
const MOST_PATIENCE_MS = 120_000;
/** Limit of the time after stalls and silences, in milliseconds. A silent server would otherwise be waited for for hours. */
const LONGEST_SILENCE_MS = 600_000;
/** Time without a cut after which earlier ones do not count, in milliseconds. A large chunk may take minutes. */
const FORGET_CUTS_MS = 1_800_000;
/** Factor from a silence that ended well to the time that the next PUT is given. */
const SILENCE_FACTOR = 4;

/** Everything that all requests to one origin share. */
export class Host {
  readonly #retryAfter = { untilMs: 0 };
  /** For calls to the service. */
  readonly backoff = new HostBackoff(this.#retryAfter);
  /** For PUTs. If both have one origin, each PUT that fails follows a call that succeeds. */
  readonly putBackoff = new HostBackoff(this.#retryAfter);
  readonly evidence: Evidence = { readableBytes: 0, rounds: 0, reachCheck: undefined };
  /** True once the origin is known to use HTTP/2 or later, where requests share one connection. */
  isMultiplexed = false;
  readonly #sizes = new Map<number, SizeRecord>();

  /** Returns how long a PUT of this size may be silent. `stallMs` is the time from one byte to the next without earlier stalls. */
  patienceFor(sizeBytes: number, stallMs: number): Patience {
    const { stallCount, silences } = this.#sizeOf(sizeBytes);
    const afterStalls = (ms: number): number =>
      Math.max(ms, Math.min(ms * 2 ** stallCount, LONGEST_SILENCE_MS));
    const times = (factor: number): number =>
      afterStalls(Math.max(stallMs, Math.min(stallMs * factor, MOST_PATIENCE_MS)));
    const afterSilence = (silenceMs: number): number =>
      Math.min(SILENCE_FACTOR * silenceMs, LONGEST_SILENCE_MS);
    return {
      firstByteMs: Math.max(times(PATIENCE_BEFORE_FIRST_BYTE), afterSilence(silences.firstByteMs)),
      stallMs: afterStalls(stallMs),
      answerMs: Math.max(times(PATIENCE_FOR_ANSWER), afterSilence(silences.answerMs)),
      stallCount,
    };
  }

  /** Call this method when a PUT was ended because it was silent for longer than `patience`. */
  onStall(sizeBytes: number, { stallCount }: Patience): void {
    const record = this.#sizeOf(sizeBytes);
    // PUTs that ran at the same time count once.
    record.stallCount = Math.max(record.stallCount, stallCount + 1);
  }

  /** Call this method when a PUT was stored. */
  onStored(sizeBytes: number, { firstByteMs, answerMs }: Silences): void {
    const record = this.#sizeOf(sizeBytes);
    const { silences } = record;
    record.stallCount = Math.max(0, record.stallCount - 1);
    record.cutCount = 0;
    record.silences = {
      firstByteMs: Math.max(firstByteMs, silences.firstByteMs / 2),
      answerMs: Math.max(answerMs, silences.answerMs / 2),
    };
  }

  /**
   * Call this method when a PUT that began at `startedMs` was cut before its last byte. Returns how often PUTs of this size were
   * cut since one was stored.
   */
  onCut(sizeBytes: number, startedMs: number): number {
    const record = this.#sizeOf(sizeBytes);
    if (performance.now() - record.cutAtMs > FORGET_CUTS_MS) record.cutCount = 0;
    // The same cause may cut all PUTs that run at the same time.
    if (startedMs >= record.cutAtMs) {
      record.cutCount += 1;
      record.cutAtMs = performance.now();
    }
    return record.cutCount;
  }

  /** Sizes that differ by less than a factor of two have the same record. */
  #sizeOf(sizeBytes: number): SizeRecord {
    const key = Math.ceil(Math.log2(Math.max(1, sizeBytes)));
    const record = this.#sizes.get(key) ?? {
      stallCount: 0,
      silences: { firstByteMs: 0, answerMs: 0 },
      cutCount: 0,
      cutAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#sizes.set(key, record);
    return record;
  }
}

/** Returns a function that maps a URL to the host of its origin. */
export const createHosts = (): ((url: string) => Host) => perOrigin(() => new Host());

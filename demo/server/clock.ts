// The service's own clock. Every lifetime (code, token, session, presigned URL) is read from here, so that a test
// can shift it; it knows nothing about what expires.

/** A clock that tests may shift. Times are milliseconds since 1970. */
export interface Clock {
  /** Now, shifted. */
  now(): number;
  /** Moves the clock by so many milliseconds (negative: back). Shifts add up. */
  shift(byMs: number): void;
  /** How far it is shifted by now, in milliseconds. */
  readonly offsetMs: number;
}

/** Creates a clock that follows the machine's until it is shifted. */
export function createClock(): Clock {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    shift(byMs) {
      offsetMs += byMs;
    },
    get offsetMs() {
      return offsetMs;
    },
  };
}

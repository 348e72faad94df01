// The clock that determines when codes, tokens, sessions and presigned URLs expire.

/** A clock that tests can shift. Times are in milliseconds since 1970. */
export interface Clock {
  /** Returns the current time, including all shifts. */
  now(): number;
  /** Moves the clock by `byMs`, which may be negative. Shifts add up. */
  shift(byMs: number): void;
  /** Sum of all shifts in milliseconds. */
  readonly offsetMs: number;
}

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

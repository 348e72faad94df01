// The clock for every lifetime (code, token, session, presigned URL), which tests can shift.

/** A clock that tests may shift. Times are milliseconds since 1970. */
export interface Clock {
  /** Now, shifted. */
  now(): number;
  /** Moves the clock by `ms`, which may be negative. Shifts add up. */
  shift(byMs: number): void;
  /** Sum of the shifts, milliseconds. */
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

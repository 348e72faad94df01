// Reads points in time from responses of the service.

/** Smaller numbers are seconds, others milliseconds. */
const SECONDS_BELOW = 1e11;
/** Latest time that a `Date` can hold. */
const LATEST_MS = 8.64e15;

/**
 * Returns the epoch milliseconds of a time in a response: a date (ISO 8601, UTC if there is no time zone), epoch seconds or epoch
 * milliseconds. Returns `undefined` if the value is unreadable or too large.
 */
export function readTimeMs(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const number = Number(value);
  if (!Number.isNaN(number)) {
    const atMs = number < SECONDS_BELOW ? number * 1000 : number;
    return atMs > 0 && atMs <= LATEST_MS ? atMs : undefined;
  }
  const text = String(value).trim();
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test(text);
  const parsedMs = Date.parse(hasZone ? text : `${text.replace(' ', 'T')}Z`);
  return Number.isNaN(parsedMs) ? undefined : parsedMs;
}

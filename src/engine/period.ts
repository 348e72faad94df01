// The period since the last sign-out in this browser. It has a random id in `localStorage`, the same in all tabs, which a sign-out
// removes. What was saved in another period, or without an id, may be of an earlier user. So nothing is restored if the storage
// is blocked or full, or if the page has cleared it.

import { createId } from '../core/create-id.ts';
import { Listeners } from '../core/listeners.ts';

const NAME = 'secure-uploader:period';
const ends = new Listeners<void>();

/** Calls `listener` when a sign-out in this page ends the period. Returns a function that removes `listener`. */
export const onPeriodEnd = (listener: () => void): (() => unknown) => ends.add(listener);

/** Returns the id of the current period; `undefined` if there is none yet, or if the storage is blocked. */
export function currentPeriod(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns the id of the current period, which it begins if necessary; `undefined` if the storage is blocked or full. */
export function beginPeriod(): string | undefined {
  try {
    if (localStorage.getItem(NAME) === null) localStorage.setItem(NAME, createId());
  } catch {
    // There is none.
  }
  return currentPeriod();
}

/** Ends the period: the user signs out. */
export function endPeriod(): void {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // There was none.
  }
  ends.tell();
}

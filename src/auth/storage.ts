// What sign-in keeps in the browser's storage: the authorization request of redirect mode while the user is on another page, and
// the mark of sign-outs. The mark prevents silent sign-in until the next sign-in, and shows a page that comes back from the
// back/forward cache that a user has signed out meanwhile.

import type { Settings } from '../core/config.ts';
import { record } from './calls.ts';

/** Prefix of the keys of stored authorization requests. `callback.ts` has a copy, and adds the response as `params`. */
export const STORED = 'secure-uploader:redirect:';

/** An unchecked response, with the stored data of its authorization request. */
export interface Returned {
  readonly state: string;
  readonly stored: Readonly<Record<string, unknown>>;
}

/** Returns the keys of the stored authorization requests; none if the storage is blocked. */
function storedKeys(): string[] {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(STORED));
  } catch {
    return [];
  }
}

/** Removes all stored authorization requests. */
export function dropTransactions(): void {
  for (const key of storedKeys()) sessionStorage.removeItem(key);
}

/**
 * Returns the response that the callback page has stored for a request of this session. Removes request and response. Returns
 * `undefined` in a frame, where redirect mode does not work, and on the callback page itself, which is being left.
 */
export function takeReturn(sessionKey: string): Returned | undefined {
  if (window.parent !== window) return undefined;
  for (const key of storedKeys()) {
    let stored: Returned['stored'] = {};
    try {
      stored = record(JSON.parse(sessionStorage.getItem(key) ?? ''));
    } catch {
      // An entry that cannot be read belongs to no session.
    }
    if (!stored.params || stored.sessionKey !== sessionKey || stored.page === performance.timeOrigin)
      continue;
    sessionStorage.removeItem(key);
    return { state: key.slice(STORED.length), stored };
  }
  return undefined;
}

type Service = Pick<Settings, 'baseUrl' | 'clientId'>;
const nameOf = ({ baseUrl, clientId }: Service): string =>
  `secure-uploader:signed-out:${baseUrl} ${clientId}`;

/** Marks that could not be stored, because the storage is blocked or full. These marks are lost when the page is closed. */
const unstored = new Map<string, number>();

/** Returns the number of sign-outs and of sign-ins after them. An odd number means that no user has signed in since. */
function read(service: Service): number {
  const name = nameOf(service);
  try {
    return unstored.get(name) ?? (Number(localStorage.getItem(name)) || 0);
  } catch {
    return 0;
  }
}

/** Returns the number of sign-outs from this service in this browser. */
export const signOutCount = (service: Service): number => Math.ceil(read(service) / 2);

/** Returns true after a sign-out from this service in this browser, until the next sign-in. */
export const hasSignedOut = (service: Service): boolean => read(service) % 2 === 1;

/** Records a sign-out (`isOut` is true), or the first sign-in after one. Other sign-ins change nothing. */
export function markSignedOut(service: Service, isOut: boolean): void {
  const name = nameOf(service);
  const count = read(service);
  const next = count + (count % 2) + Number(isOut);
  if (next === count) return;
  unstored.delete(name);
  try {
    localStorage.setItem(name, `${next}`);
  } catch {
    unstored.set(name, next);
  }
}

// What sign-in keeps in the browser's storage: the authorization request of redirect mode while the user is on another page, and
// the mark of a sign-out, which prevents silent sign-in until the next sign-in.

import type { Settings } from '../core/settings-table.ts';
import { type CurrentUser, readMark } from '../core/user.ts';
import { record } from './calls.ts';

/** Prefix of the keys of stored authorization requests. `callback.ts` has a copy, and adds the response as `params`. */
export const STORED = 'secure-uploader:redirect:';
/** Lifetime of a stored authorization request. */
export const TRANSACTION_MS = 600_000;
/** Time in which a page has to take a stored response, by the clock: the page may sleep meanwhile. */
const ANSWER_MS = 60_000;

/** An unchecked request with its response, if there is one. */
type Stored = Readonly<Record<string, unknown>>;

/** An unchecked response, with the stored data of its authorization request. */
export interface Returned {
  readonly state: string;
  readonly stored: Stored;
}

/** Returns the stored authorization requests; none if the storage is blocked. An entry that cannot be read has no fields. */
function listTransactions(): (readonly [key: string, stored: Stored])[] {
  const read = (key: string): Stored => {
    try {
      return record(JSON.parse(sessionStorage.getItem(key) ?? ''));
    } catch {
      return {};
    }
  };
  try {
    const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(STORED));
    return keys.map((key) => [key, read(key)]);
  } catch {
    return [];
  }
}

/** Removes the stored authorization requests for which `isOver` returns true; by default, all. */
export function dropTransactions(isOver: (stored: Stored) => boolean = () => true): void {
  for (const [key, stored] of listTransactions()) if (isOver(stored)) sessionStorage.removeItem(key);
}

/** Removes the stored requests of the users before `user`: those from before the last sign-out, and those without a mark. */
export const dropTransactionsBefore = (user: CurrentUser): void =>
  dropTransactions(({ mark }) => {
    const read = readMark(mark);
    return !read || user.hasSignedOutSince(read);
  });

const isYoung = (atMs: unknown, longestMs: number): boolean =>
  Math.abs(Date.now() - Number(atMs)) < longestMs;

/** True if a stored request has no response, or a response that a page may still take. */
const isTakeable = ({ answeredAtMs, params }: Stored): boolean =>
  params === undefined || isYoung(answeredAtMs, ANSWER_MS);

const isUsable = (stored: Stored): boolean =>
  isYoung(stored.createdAtMs, TRANSACTION_MS) && isTakeable(stored);

/**
 * Returns the response that the callback page has stored for a request of this session in the last minute. Removes request and
 * response, also if a user has signed out since, and all that are too old, of whichever session. Returns `undefined` in a frame,
 * where redirect mode does not work, and on the callback page itself, which is being left.
 */
export function takeReturn(sessionKey: string, user: CurrentUser): Returned | undefined {
  if (window.parent !== window) return undefined;
  const isOwn = ({ page, params, sessionKey: key }: Stored): boolean =>
    params !== undefined && key === sessionKey && page !== performance.timeOrigin;
  const own = listTransactions().find(([, stored]) => isOwn(stored));
  if (own) sessionStorage.removeItem(own[0]);
  dropTransactions((stored) => !isUsable(stored));
  if (!own || !isTakeable(own[1])) return undefined;
  const [key, stored] = own;
  const mark = readMark(stored.mark);
  return mark && user.hasSignedOutSince(mark) ? undefined : { state: key.slice(STORED.length), stored };
}

type Service = Pick<Settings, 'baseUrl' | 'clientId'>;
const nameOf = ({ baseUrl, clientId }: Service): string =>
  `secure-uploader:signed-out:${baseUrl} ${clientId}`;

/** Earlier releases counted sign-outs and sign-ins: a mark of theirs with an even number is from a sign-in. */
const isMark = (value: string | null): boolean => Number(value) % 2 === 1;

/** Marks that could not be stored, because the storage is blocked or full. These marks are lost when the page is closed. */
const unstored = new Set<string>();

/** Returns true after a sign-out from this service in this browser, until the next sign-in. */
export function hasSignedOut(service: Service): boolean {
  const name = nameOf(service);
  try {
    return unstored.has(name) || isMark(localStorage.getItem(name));
  } catch {
    return unstored.has(name);
  }
}

/** Records a sign-out (`isOut` is true), or a sign-in. */
export function markSignedOut(service: Service, isOut: boolean): void {
  const name = nameOf(service);
  unstored.delete(name);
  try {
    if (isOut) localStorage.setItem(name, '1');
    else localStorage.removeItem(name);
  } catch {
    if (isOut) unstored.add(name);
  }
}

// The user of this browser: whose data something is, and when the user has changed. No other module decides either.
//
// A period lasts from one sign-out in this browser to the next, for all services. Its id is in `localStorage`, the same in all
// tabs. It is a random text after the number of sign-outs that the storage, or a page, knows of. Each sign-out replaces it, and
// none ever comes back. If a sign-out has started it, the sign after the number is `-`. Otherwise, the storage was empty, and the
// sign is `+`.

import { openChannel } from './channel.ts';
import { createId } from './create-id.ts';
import { Listeners } from './listeners.ts';

/** Whose data something is: the owner that the page had named, and the period. */
export interface Mark {
  readonly owner: string;
  readonly period: string;
}

/**
 * Why the user of before is not the user of now. `owner`: the page has named another one. `signed-out`: the user has signed out,
 * in this page (`isHere`) or in another one.
 */
export type UserChange = Readonly<{ type: 'owner' } | { type: 'signed-out'; isHere: boolean }>;

/**
 * The storage was cleared. Nothing that the browser restores is used then, but running uploads continue: pages clear the storage
 * for other reasons, too.
 */
interface Unsure {
  readonly type: 'unsure';
}

const NAME = 'secure-uploader:period';
const CHANNEL = 'secure-uploader:sign-out';

const createSignOutPeriod = (count: number): string => `${count}-${createId()}`;
const createPeriod = (count = 0): string => `${count}+${createId()}`;
const isSignOut = (period: string): boolean => /^\d+-/.test(period);
const countOf = (period: string): number => Number.parseInt(period, 10) || 0;

/** Id of the period while the storage is blocked, full or cleared. No other document has it. */
let unstoredPeriod = createPeriod();
/** The period of the data in this page. */
let ownPeriod = unstoredPeriod;
/** All periods that have been that of this page. */
const earlierPeriods = new Set<string>();
const users = new Listeners<UserChange | Unsure>();
/** Listeners of users that are not connected. Weak, because no page closes an element that it throws away. */
const awayListeners = new Set<WeakRef<(change: UserChange | Unsure) => void>>();
let watchController: AbortController | undefined;
let channel: BroadcastChannel | undefined;

function storedPeriod(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns the current period. */
export const currentPeriod = (): string => storedPeriod() ?? unstoredPeriod;

/** Returns the current period. Stores it if there is none yet. */
function beginPeriod(): string {
  if (storedPeriod() !== undefined) return currentPeriod();
  try {
    localStorage.setItem(NAME, unstoredPeriod);
    // After the storage is cleared, this period must not come back.
    if (storedPeriod() === unstoredPeriod) unstoredPeriod = createPeriod(countOf(unstoredPeriod));
  } catch {
    // The storage is blocked or full.
  }
  return currentPeriod();
}

function adopt(period: string): void {
  ownPeriod = period;
  earlierPeriods.add(period);
}

/** Adopts the stored period. Without one, begins another, which tells later pages of `count` sign-outs. */
function adoptStored(count: number): void {
  if (storedPeriod() === undefined) unstoredPeriod = createPeriod(count);
  adopt(beginPeriod());
}

function tell(change: UserChange | Unsure): void {
  for (const listener of [...awayListeners]) {
    const notify = listener.deref();
    if (notify) notify(change);
    else awayListeners.delete(listener);
  }
  users.tell(change);
}

/** Returns what has happened since `period`. For who has missed messages, any other period counts. */
function changeSince(period: string, hasMissed = false): UserChange | Unsure | undefined {
  const latestPeriod = currentPeriod();
  if (latestPeriod === period) return undefined;
  const isOver = hasMissed || isSignOut(latestPeriod) || countOf(latestPeriod) > countOf(period);
  return isOver ? { type: 'signed-out', isHere: false } : { type: 'unsure' };
}

function check(hasMissed = false): void {
  const latestPeriod = currentPeriod();
  const change = earlierPeriods.has(latestPeriod) ? undefined : changeSince(ownPeriod, hasMissed);
  if (!change) {
    adopt(latestPeriod);
    return;
  }
  // The message of a sign-out may still come.
  adoptStored(countOf(ownPeriod) + Number(change.type === 'signed-out'));
  tell(change);
}

/**
 * Takes the period that another page has started, from its message or from the event of the storage, whichever comes first. By
 * then, the storage may be cleared, or may not have changed yet.
 */
function hear(period: unknown): void {
  if (!isNews(period)) {
    check();
    return;
  }
  adopt(period);
  if (storedPeriod() === undefined) adoptStored(countOf(period));
  tell({ type: 'signed-out', isHere: false });
}

function isNews(period: unknown): period is string {
  if (typeof period !== 'string' || !isSignOut(period) || earlierPeriods.has(period)) return false;
  // Without the storage, pages do not know the count of others.
  return countOf(period) > countOf(ownPeriod) || storedPeriod() === undefined;
}

/** Looks for a sign-out in other pages: when they say so, and when this page was in the back/forward cache, or frozen in a tab. */
function watch(): void {
  adopt(beginPeriod());
  watchController = new AbortController();
  const { signal } = watchController;
  const onStorage = ({ key, newValue }: StorageEvent): void => {
    if (key === NAME || key === null) hear(newValue);
  };
  globalThis.addEventListener?.('storage', onStorage, { signal });
  globalThis.addEventListener?.('pageshow', ({ persisted }) => persisted && check(true), { signal });
  globalThis.document?.addEventListener('resume', () => check(true), { signal });
  channel = openChannel(CHANNEL);
  channel?.addEventListener('message', ({ data }) => hear(data));
}

/** Ends `period`, at once in all tabs: the user signs out. Does nothing if it is over. */
export function endPeriod(period = currentPeriod()): void {
  if (period !== currentPeriod()) return;
  const nextPeriod = createSignOutPeriod(Math.max(countOf(period), countOf(ownPeriod)) + 1);
  unstoredPeriod = createPeriod(countOf(nextPeriod));
  try {
    localStorage.setItem(NAME, nextPeriod);
  } catch {
    unstoredPeriod = nextPeriod;
    forgetStored();
  }
  adopt(currentPeriod());
  const sender = channel ?? openChannel(CHANNEL);
  sender?.postMessage(nextPeriod);
  if (sender !== channel) sender?.close();
  tell({ type: 'signed-out', isHere: true });
}

/** Removes the old period from a storage that is full. */
function forgetStored(): void {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // The storage is blocked.
  }
}

/** The user of an uploader or of a session. Whatever is kept for a user is dropped by a listener of `onChange`, or has a mark. */
export class CurrentUser {
  readonly #changes = new Listeners<UserChange>();
  readonly #doubts = new Listeners<void>();
  #owner: string;
  #stop: (() => void) | undefined;
  /** The period of the data of this user, while it is not connected. */
  #period: string;
  readonly #hear = (change: UserChange | Unsure): void => {
    this.#period = ownPeriod;
    this.#tell(change);
  };
  readonly #listener = new WeakRef(this.#hear);

  constructor(owner = '') {
    this.#owner = owner;
    if (users.size > 0) check();
    this.#period = beginPeriod();
    awayListeners.add(this.#listener);
  }

  get owner(): string {
    return this.#owner;
  }

  /** Sets the owner. A user who is named late is the same user (decision 36). */
  set owner(owner: string) {
    const previousOwner = this.#owner;
    this.#owner = owner;
    if (previousOwner !== '' && previousOwner !== owner) this.#changes.tell({ type: 'owner' });
  }

  /** Calls `listener` when the user has changed. Returns a function that removes `listener`. */
  onChange(listener: (change: UserChange) => void): () => unknown {
    return this.#changes.add(listener);
  }

  /** Calls `listener` when nothing that was restored can be used any more, because the storage was cleared. */
  onUnsure(listener: () => void): () => unknown {
    return this.#doubts.add(listener);
  }

  /** Begins to look for sign-outs, also for those before. */
  connect(): void {
    if (this.#stop) return;
    if (users.size === 0) watch();
    else check();
    awayListeners.delete(this.#listener);
    const leave = users.add(this.#hear);
    this.#stop = () => {
      leave();
      if (users.size > 0) return;
      watchController?.abort();
      channel?.close();
      channel = undefined;
    };
    this.#learn();
  }

  /** Looks only for sign-outs that other users of this page are notified of, until `connect()` or `look()`. */
  disconnect(): void {
    if (!this.#stop) return;
    this.#period = ownPeriod;
    this.#stop();
    this.#stop = undefined;
    awayListeners.add(this.#listener);
  }

  /** Ends the search for sign-outs. */
  close(): void {
    this.disconnect();
    awayListeners.delete(this.#listener);
  }

  /** Looks for a sign-out now: data that arrives after this call is that of the user of now. */
  look(): void {
    if (users.size > 0) check();
    if (!this.#stop) this.#learn();
  }

  /** Tells what this user has missed. */
  #learn(): void {
    const missedChange = changeSince(this.#period, true);
    if (!missedChange) return;
    this.#period = beginPeriod();
    this.#tell(missedChange);
  }

  #tell(change: UserChange | Unsure): void {
    if (change.type === 'unsure') this.#doubts.tell();
    else this.#changes.tell(change);
  }

  /** True if a user has signed out of whom the listeners of `onChange` do not know yet: data of this user goes nowhere any more. */
  get isSignedOut(): boolean {
    const isConnected = this.#stop !== undefined;
    if (isConnected && earlierPeriods.has(currentPeriod())) return false;
    return changeSince(isConnected ? ownPeriod : this.#period, !isConnected)?.type === 'signed-out';
  }

  /** Returns the mark of data that is kept from now on; `undefined` if no later page could tell whose it is. */
  mark(): Mark | undefined {
    const period = beginPeriod();
    return period === storedPeriod() ? { owner: this.#owner, period } : undefined;
  }

  /**
   * The rule: returns whether data that something has brought back is that of the user of now. `later`: it may be, as soon as the
   * page has named its owner. Data without an owner is not that of an owner.
   */
  owns({ owner, period }: Mark): 'yes' | 'later' | 'no' {
    if (period !== storedPeriod()) return 'no';
    if (owner === this.#owner) return 'yes';
    return this.#owner === '' ? 'later' : 'no';
  }

  /** Returns true if a user has signed out since something with this mark began. */
  hasSignedOutSince({ period }: Mark): boolean {
    return changeSince(period)?.type === 'signed-out';
  }
}

/** Returns an unchecked mark; `undefined` if it is none. */
export function readMark(value: unknown): Mark | undefined {
  const { owner, period } = (value ?? {}) as Partial<Mark>;
  return typeof owner === 'string' && typeof period === 'string' ? { owner, period } : undefined;
}

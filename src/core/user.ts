// The user of this browser: whose data something is, and when the user has changed. No other module decides either.
//
// A period lasts from one sign-out in this browser to the next, for all services. Its id is in `localStorage`, the same in all
// tabs. It is a random text after the number of sign-outs that the storage knows of. Each sign-out replaces it, and none ever comes
// back.

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

const newPeriod = (count = 0): string => `${count}-${createId()}`;
const isFirst = (period: string): boolean => period.startsWith('0-');

/** Id of the period while the storage is blocked, full or cleared. No other document has it. */
let unstored = newPeriod();
/** The period of the data in this page. */
let known = unstored;
const users = new Listeners<UserChange | Unsure>();
let watching: AbortController | undefined;
let channel: BroadcastChannel | undefined;

function storedPeriod(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

const currentPeriod = (): string => storedPeriod() ?? unstored;

/** Returns the current period. Stores it if there is none yet. */
function beginPeriod(): string {
  if (storedPeriod() !== undefined) return currentPeriod();
  try {
    localStorage.setItem(NAME, unstored);
    // After the storage is cleared, this period must not come back.
    if (storedPeriod() === unstored) unstored = newPeriod();
  } catch {
    // The storage is blocked or full.
  }
  return currentPeriod();
}

/** Returns what has happened since `period`. A page that comes back has missed all messages, so that any other period counts. */
function changeSince(period: string, hasMissed = false): UserChange | Unsure | undefined {
  const now = currentPeriod();
  if (now === period) return undefined;
  return hasMissed || !isFirst(now) ? { type: 'signed-out', isHere: false } : { type: 'unsure' };
}

function check(hasMissed = false): void {
  const change = changeSince(known, hasMissed);
  if (!change) return;
  known = beginPeriod();
  users.tell(change);
}

/** Looks for a sign-out in other pages: when they say so, and when this page was in the back/forward cache, or frozen in a tab. */
function watch(): void {
  known = beginPeriod();
  watching = new AbortController();
  const { signal } = watching;
  globalThis.addEventListener?.('storage', ({ key }) => (key === NAME || key === null) && check(), {
    signal,
  });
  globalThis.addEventListener?.('pageshow', ({ persisted }) => persisted && check(true), { signal });
  globalThis.document?.addEventListener('resume', () => check(), { signal });
  channel = openChannel(CHANNEL);
  channel?.addEventListener('message', () => {
    // Without the storage, this message is all that says it.
    if (storedPeriod() === undefined) unstored = newPeriod(1);
    check();
  });
}

/** Ends the period, at once in all tabs: the user signs out. */
export function endPeriod(): void {
  const next = newPeriod(Number.parseInt(currentPeriod(), 10) + 1);
  unstored = newPeriod();
  try {
    localStorage.setItem(NAME, next);
  } catch {
    unstored = next;
  }
  known = currentPeriod();
  channel?.postMessage('signed-out');
  users.tell({ type: 'signed-out', isHere: true });
}

/** The user of an uploader or of a session. Whatever is kept for a user is dropped by a listener of `onChange`, or has a mark. */
export class CurrentUser {
  readonly #changes = new Listeners<UserChange>();
  readonly #doubts = new Listeners<void>();
  #owner: string;
  #stop: (() => void) | undefined;
  /** The period in which `disconnect()` was called. */
  #left: string | undefined;

  constructor(owner = '') {
    this.#owner = owner;
  }

  get owner(): string {
    return this.#owner;
  }

  /** Sets the owner. A user who is named late is the same user (decision 36). */
  set owner(owner: string) {
    const before = this.#owner;
    this.#owner = owner;
    if (before !== '' && before !== owner) this.#changes.tell({ type: 'owner' });
  }

  /** Calls `listener` when the user has changed. Returns a function that removes `listener`. */
  onChange(listener: (change: UserChange) => void): () => unknown {
    return this.#changes.add(listener);
  }

  /** Calls `listener` when nothing that was restored can be used any more, because the storage was cleared. */
  onUnsure(listener: () => void): () => unknown {
    return this.#doubts.add(listener);
  }

  /** Begins to look for sign-outs, also for those since `disconnect()`. */
  connect(): void {
    if (this.#stop) return;
    if (users.size === 0) watch();
    else check();
    const leave = users.add((change) => this.#tell(change));
    this.#stop = () => {
      leave();
      if (users.size > 0) return;
      watching?.abort();
      channel?.close();
      channel = undefined;
    };
    const missed = this.#left !== undefined && changeSince(this.#left);
    if (missed) this.#tell(missed);
  }

  disconnect(): void {
    if (!this.#stop) return;
    this.#left = known;
    this.#stop();
    this.#stop = undefined;
  }

  #tell(change: UserChange | Unsure): void {
    if (change.type === 'unsure') this.#doubts.tell();
    else this.#changes.tell(change);
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

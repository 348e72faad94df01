// While files are uploading: warns users who leave the page, keeps the screen on, and asks the browser to keep saved progress.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { hasActive } from '../core/phases.ts';
import type { Snapshot } from '../core/types.ts';
import { loadEarly, whenIdle } from '../core/wait.ts';
import { pageOf } from './page.ts';

/** Addresses of links that open another program, and leave the page where it is. Browsers ask nevertheless. */
const OF_PROGRAM = /^\s*(mailto|tel|sms):/i;
/** Time in which such a click makes the browser ask, in milliseconds. */
const ASKS_MS = 500;

const isLink = (target: EventTarget): target is Element =>
  /^(a|area)$/.test((target as Partial<Element>).localName ?? '');

export interface LeaveHost extends ReactiveControllerHost, Node {
  readonly snapshot: Snapshot;
  readonly keeperUrl?: string | undefined;
  readonly noLeaveWarning: boolean;
  readonly noResume: boolean;
  readonly persistStorage: boolean;
  readonly wakeLock: boolean;
}

export class LeaveController implements ReactiveController {
  readonly #host: LeaveHost;
  /** The window in which the element is. */
  #page = window;
  /** Controller that is aborted when the screen may turn off; `undefined` while it may. */
  #screen: AbortController | undefined;
  #hasAskedToPersist = false;
  #isLockLoaded = false;
  /**
   * Makes the browser warn, with a text of its own. Each element has its own listener. The page may leave as soon as the uploads
   * are done, before the next rendering removes the listener.
   */
  readonly #warn = (event: BeforeUnloadEvent): void => {
    const opensProgram = event.timeStamp - this.#clickedMs < ASKS_MS;
    this.#clickedMs = Number.NEGATIVE_INFINITY;
    if (this.#isUploading && !opensProgram) event.preventDefault();
  };
  /** Time of the last click on a link that opens another program, as in `timeStamp` of events. */
  #clickedMs = Number.NEGATIVE_INFINITY;
  readonly #onClick = (event: Event): void => {
    const link = event.composedPath().find(isLink);
    if (OF_PROGRAM.test(link?.getAttribute('href') ?? '')) this.#clickedMs = event.timeStamp;
  };

  constructor(host: LeaveHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#page = pageOf(this.#host);
  }

  hostUpdated(): void {
    // An update may follow the removal of the element.
    this.#set(this.#host.isConnected && this.#isUploading);
  }

  hostDisconnected(): void {
    this.#set(false);
  }

  get #isUploading(): boolean {
    return hasActive(this.#host.snapshot.files);
  }

  #set(isUploading: boolean): void {
    const { keeperUrl, noLeaveWarning, noResume, persistStorage, wakeLock } = this.#host;
    if (wakeLock && !this.#isLockLoaded) whenIdle(() => void loadEarly(loadLock));
    this.#isLockLoaded ||= wakeLock;
    // Firefox keeps no page with this listener in the back/forward cache.
    const warns = isUploading && !noLeaveWarning && !keeperUrl;
    const change = warns ? 'addEventListener' : 'removeEventListener';
    this.#page[change]('beforeunload', this.#warn);
    this.#page[change]('click', this.#onClick, true);
    if (isUploading && wakeLock) this.#screen ??= keepScreenOn(this.#page);
    else {
      this.#screen?.abort();
      this.#screen = undefined;
    }
    if (!isUploading || !persistStorage || noResume || this.#hasAskedToPersist) return;
    this.#hasAskedToPersist = true;
    // If the browser refuses, it may delete saved progress when the disk is full, as without this setting.
    void navigator.storage?.persist?.().catch(() => undefined);
  }
}

const loadLock = (): Promise<typeof import('./screen-lock.ts')> => import('./screen-lock.ts');

/** Keeps the screen on while `page` is visible, until the result is aborted. */
function keepScreenOn(page: Window): AbortController {
  const life = new AbortController();
  loadLock()
    .then(({ lockScreen }) => lockScreen(page, life.signal))
    // Without this code, the screen may turn off, as if the browser denied the lock.
    .catch(() => undefined);
  return life;
}

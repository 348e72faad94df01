// Counts down for an element that shows how long something still takes. It knows nothing of what is waited for.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { sleep } from '../core/wait.ts';

/** Renders its element once a second, for as long as there is something to count. */
export class Countdown implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  #life = new AbortController();
  #isTicking = false;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#life = new AbortController();
  }

  hostDisconnected(): void {
    this.#life.abort();
    this.#isTicking = false;
  }

  /** Whole seconds until then (epoch milliseconds), 0 where that is over or never. To be asked while rendering. */
  secondsUntil(atMs = 0): number {
    const seconds = Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
    if (seconds > 0 && !this.#isTicking) {
      this.#isTicking = true;
      const tick = (): void => {
        this.#isTicking = false;
        this.#host.requestUpdate();
      };
      sleep(1000, this.#life.signal).then(tick, () => undefined);
    }
    return seconds;
  }
}

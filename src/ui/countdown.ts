import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { runAfter } from '../core/wait.ts';

/** Renders its host every second until the countdown ends. */
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

  /**
   * Returns the whole seconds until `atMs` (epoch milliseconds); 0 if `atMs` has passed or is not given. Schedules the next
   * rendering, so call this method while rendering.
   */
  secondsUntil(atMs = 0): number {
    const seconds = Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
    if (seconds > 0 && !this.#isTicking) {
      this.#isTicking = true;
      const tick = (): void => {
        this.#isTicking = false;
        this.#host.requestUpdate();
      };
      runAfter(1000, this.#life.signal, tick);
    }
    return seconds;
  }
}

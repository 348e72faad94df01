// Creates the engine of the element, dispatches its changes as events, and throttles rendering.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import type { SettingsInput } from '../core/settings-table.ts';
import { Uploader } from '../engine/uploader.ts';
import type { UploaderOptions } from '../engine/uploader-options.ts';
import { pageOf } from './page.ts';

export interface EngineHost extends ReactiveControllerHost, HTMLElement {
  readonly chunkEvents: boolean;
  readonly engineOptions?: UploaderOptions | undefined;
}

/** Minimum time between renderings, in milliseconds. With small files, the list can change hundreds of times per second. */
const RENDER_EVERY_MS = 100;
/** Minimum time between renderings, as a multiple of the time that the last one took. */
const REST_SHARE = 20;

/** Owns the engine of one element. Passes each change to `watchers`, then dispatches the change as an event. */
export class EngineController implements ReactiveController {
  readonly uploader: Uploader;
  readonly #host: EngineHost;
  #isRendering = false;
  /** Time from which the host may be rendered again, by `performance.now()`. */
  #nextMs = 0;

  /** Throws `bad-config` if the settings are invalid. */
  constructor(
    host: EngineHost,
    input: SettingsInput,
    watchers: readonly { onChange(change: Change): void }[],
  ) {
    this.#host = host;
    const uploader = new Uploader(input, host.engineOptions ?? undefined);
    uploader.mayAdd = (file) => this.#dispatch('file-add', file, true);
    uploader.mayRedirect = () => {
      const { openCount } = uploader.snapshot.totals;
      return this.#dispatch('auth-redirect', { openCount }, true);
    };
    uploader.onChange((change) => {
      for (const watcher of watchers) watcher.onChange(change);
      const isDispatched = host.chunkEvents || !change.name.startsWith('chunk-');
      if (isDispatched) this.#dispatch(change.name, change.detail);
    });
    uploader.subscribe(() => this.#render());
    this.uploader = uploader;
    host.addController(this);
  }

  hostConnected(): void {
    // The frame may never come if its window was closed.
    if (this.#isRendering) this.#host.requestUpdate();
    this.#isRendering = false;
  }

  /** Dispatches an event. Returns false if the page called `preventDefault()`. */
  #dispatch(name: string, detail: object, cancelable = false): boolean {
    Object.freeze(detail);
    return this.#host.dispatchEvent(
      new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }),
    );
  }

  /** Schedules a rendering in the next frame, or later if the last one was a short time ago. */
  #render(): void {
    if (this.#isRendering) return;
    this.#isRendering = true;
    const render = async (): Promise<void> => {
      const startedMs = performance.now();
      this.#isRendering = false;
      this.#host.requestUpdate();
      await this.#host.updateComplete;
      this.#nextMs = startedMs + RENDER_EVERY_MS + (performance.now() - startedMs) * REST_SHARE;
    };
    // The first window of an element that was moved may be hidden, and then has no frames.
    setTimeout(() => pageOf(this.#host).requestAnimationFrame(render), this.#nextMs - performance.now());
  }
}

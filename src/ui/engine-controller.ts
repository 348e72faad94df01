// Connects the element with the engine: creates the engine on first use, passes settings to the engine, dispatches changes as
// events, and throttles rendering.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import {
  type FileRules,
  type GetToken,
  readFileRules,
  type Settings,
  type SettingsInput,
} from '../core/config.ts';
import { toUploaderError } from '../core/errors.ts';
import type { Snapshot } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import { deleteUploads } from '../engine/sign-out.ts';
import { totalsOf } from '../engine/snapshot-store.ts';
import { Uploader, type UploaderOptions } from '../engine/uploader.ts';
import { pageOf } from './page.ts';
import { readSettings, type SettingsHost } from './read-settings.ts';

export interface EngineHost extends ReactiveControllerHost, HTMLElement, SettingsHost {
  readonly chunkEvents: boolean;
  readonly engineOptions?: UploaderOptions | undefined;
}

/** Minimum time between renderings, in milliseconds. With small files, the list can change hundreds of times per second. */
const RENDER_EVERY_MS = 100;
/** Minimum time between renderings, as a multiple of the time that the last one took. */
const REST_SHARE = 20;

const EMPTY: Snapshot = Object.freeze<Snapshot>({
  files: [],
  rejections: [],
  totals: totalsOf([], () => ({})),
  auth: { state: 'signed-out', mode: 'auto', required: false },
});

/**
 * Owns the engine of one element. Passes each change to `watchers`, then dispatches the change as an event. `tokens` is the
 * function for the property `token`, which the page must not be able to read.
 */
export class EngineController implements ReactiveController {
  isMisconfigured = false;
  readonly #host: EngineHost;
  readonly #tokens: { source: GetToken | undefined };
  readonly #watchers: readonly { onChange(change: Change): void }[];
  #uploader: Uploader | undefined;
  #isRendering = false;
  /** Time from which the host may be rendered again, by `performance.now()`. */
  #nextMs = 0;
  #loggedMessage = '';
  #removal = new AbortController();

  constructor(
    host: EngineHost,
    tokens: { source: GetToken | undefined },
    watchers: readonly { onChange(change: Change): void }[],
  ) {
    this.#host = host;
    this.#tokens = tokens;
    this.#watchers = watchers;
    host.addController(this);
  }

  /** The engine, created on first access. Throws `bad-config` while the settings are invalid. */
  get uploader(): Uploader {
    this.#uploader ??= this.#heed(() => this.#create());
    return this.#uploader;
  }

  get snapshot(): Snapshot {
    return this.#uploader?.snapshot ?? EMPTY;
  }

  /** Parsed settings; `undefined` while there is no engine. */
  get settings(): Settings | undefined {
    return this.#uploader?.settings;
  }

  /** Limits for files. Available even while there is no engine. */
  get fileRules(): FileRules {
    return this.settings ?? readFileRules(readSettings(this.#host));
  }

  /**
   * Passes changed settings to the engine. Creates the engine once `baseUrl` is set. `isTokenSet` is true if the page has just set
   * `getToken`; then `getToken` may be called again after a sign-out.
   */
  configure(isTokenSet: boolean): void {
    this.isMisconfigured = false;
    if (!this.#uploader && !this.#host.baseUrl) return;
    try {
      if (this.#uploader) this.#heed(() => this.#uploader?.configure(this.#read()));
      if (isTokenSet) this.uploader.allowSignIn();
      else void this.uploader;
    } catch {
      // `#heed` has logged the error.
    }
  }

  /** Opens connections for an upload that is about to be added. */
  preconnect(): void {
    this.#uploader?.preconnect();
  }

  /** Signs out. Deletes saved uploads even if the settings are invalid. */
  async signOut(): Promise<void> {
    try {
      void this.uploader;
    } catch (error) {
      await deleteUploads();
      throw error;
    }
    await this.uploader.signOut();
  }

  hostConnected(): void {
    // The frame may never come if its window was closed.
    if (this.#isRendering) this.#host.requestUpdate();
    this.#isRendering = false;
    this.#removal.abort();
    this.#uploader?.restore();
  }

  /** Suspends the engine in the next task, unless the element is connected again by then (an element that is moved). */
  hostDisconnected(): void {
    this.#removal = new AbortController();
    sleep(0, this.#removal.signal).then(
      () => this.#uploader?.suspend(),
      () => undefined,
    );
  }

  #read(): SettingsInput {
    const input = readSettings(this.#host);
    // The newer of both counts: setting `token` removes `getToken`.
    if (input.getToken) this.#tokens.source = undefined;
    return { ...input, getToken: input.getToken ?? this.#tokens.source };
  }

  #create(): Uploader {
    const uploader = new Uploader(this.#read(), this.#host.engineOptions ?? undefined);
    uploader.mayAdd = (file) => this.#dispatch('file-add', file, true);
    uploader.mayRedirect = () => {
      const { openCount } = uploader.snapshot.totals;
      return this.#dispatch('auth-redirect', { openCount }, true);
    };
    uploader.onChange((change) => {
      for (const watcher of this.#watchers) watcher.onChange(change);
      const isDispatched = this.#host.chunkEvents || !change.name.startsWith('chunk-');
      if (isDispatched) this.#dispatch(change.name, change.detail);
    });
    uploader.subscribe(() => this.#render());
    return uploader;
  }

  /** Calls `read`. If `read` throws, shows that the settings are invalid, logs the message if it is new, and rethrows the error. */
  #heed<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const { message } = toUploaderError(error, 'bad-config', 'The settings cannot be read');
      if (message !== this.#loggedMessage) console.error(`<${this.#host.localName}>: ${message}`);
      this.#loggedMessage = message;
      this.isMisconfigured = true;
      this.#host.requestUpdate();
      throw error;
    }
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

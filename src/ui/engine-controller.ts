// The bridge between the element and the engine: makes the engine when it is first needed, hands it settings, dispatches its
// changes as events, and asks the element to render, a few times a second at most. It knows nothing of views.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import { type FileRules, readFileRules, type Settings } from '../core/config.ts';
import { toUploaderError } from '../core/errors.ts';
import type { Snapshot } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import { deleteUploads } from '../engine/sign-out.ts';
import { Uploader, type UploaderOptions } from '../engine/uploader.ts';
import { readSettings, type SettingsHost } from './read-settings.ts';

export interface EngineHost extends ReactiveControllerHost, HTMLElement, SettingsHost {
  readonly chunkEvents: boolean;
  readonly engineOptions?: UploaderOptions | undefined;
}

/** Small files change the list hundreds of times a second; nobody reads more often than this. */
const RENDER_EVERY_MS = 100;

const EMPTY: Snapshot = Object.freeze<Snapshot>({
  files: [],
  rejections: [],
  totals: {
    fileCount: 0,
    doneCount: 0,
    failedCount: 0,
    openCount: 0,
    sizeBytes: 0,
    sentBytes: 0,
    storedBytes: 0,
  },
  auth: { state: 'signed-out', mode: 'auto', required: false },
});

/** Owns the engine of one element. `watchers` are called with every change before its event is dispatched. */
export class EngineController implements ReactiveController {
  /** True while the settings do not allow an engine. */
  isMisconfigured = false;
  readonly #host: EngineHost;
  readonly #watchers: readonly { onChange(change: Change): void }[];
  #uploader: Uploader | undefined;
  #isRendering = false;
  #renderedMs = Number.NEGATIVE_INFINITY;
  #told = '';
  #removal = new AbortController();

  constructor(host: EngineHost, watchers: readonly { onChange(change: Change): void }[]) {
    this.#host = host;
    this.#watchers = watchers;
    host.addController(this);
  }

  /** The engine, made when it is first asked for. Throws `bad-config` as long as the settings do not allow one. */
  get uploader(): Uploader {
    this.#uploader ??= this.#heed(() => this.#create());
    return this.#uploader;
  }

  get snapshot(): Snapshot {
    return this.#uploader?.snapshot ?? EMPTY;
  }

  /** The checked settings, once there are any. */
  get settings(): Settings | undefined {
    return this.#uploader?.settings;
  }

  /** The rules for files, which are shown before there is an engine, too. */
  get fileRules(): FileRules {
    return this.settings ?? readFileRules(readSettings(this.#host));
  }

  /**
   * Hands changed settings over; they count for files added afterwards. Without a `base-url` it waits for one. With `isTokenSet` the
   * page has set what gives tokens, and may be asked again after a sign-out.
   */
  configure(isTokenSet: boolean): void {
    this.isMisconfigured = false;
    if (!this.#uploader && !this.#host.baseUrl) return;
    try {
      if (this.#uploader) this.#heed(() => this.#uploader?.configure(readSettings(this.#host)));
      if (isTokenSet) this.uploader.allowSignIn();
      else void this.uploader;
    } catch {
      // Told already.
    }
  }

  /** Signs out. Where the settings allow no engine, what is saved is deleted all the same. */
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
    this.#removal.abort();
    this.#uploader?.restore();
  }

  /** An element that is only moved is connected again before the next task, and nothing happens. */
  hostDisconnected(): void {
    this.#removal = new AbortController();
    sleep(0, this.#removal.signal).then(
      () => this.#uploader?.suspend(),
      () => undefined,
    );
  }

  #create(): Uploader {
    const uploader = new Uploader(readSettings(this.#host), this.#host.engineOptions);
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

  /** What is wrong with settings is shown, and told to the console once. */
  #heed<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const { message } = toUploaderError(error, 'bad-config', 'The settings cannot be read');
      if (message !== this.#told) console.error(`<${this.#host.localName}>: ${message}`);
      this.#told = message;
      this.isMisconfigured = true;
      this.#host.requestUpdate();
      throw error;
    }
  }

  /** False where the page prevented it. */
  #dispatch(name: string, detail: object, cancelable = false): boolean {
    Object.freeze(detail);
    return this.#host.dispatchEvent(
      new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }),
    );
  }

  /** With the next frame, or where the last one was a moment ago, with one a little later. */
  #render(): void {
    if (this.#isRendering) return;
    this.#isRendering = true;
    const waitMs = this.#renderedMs + RENDER_EVERY_MS - performance.now();
    const render = (): void => {
      this.#isRendering = false;
      this.#renderedMs = performance.now();
      this.#host.requestUpdate();
    };
    const inFrame = (): unknown => requestAnimationFrame(render);
    if (waitMs > 0) setTimeout(inFrame, waitMs);
    else inFrame();
  }
}

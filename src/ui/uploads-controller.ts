// The part of the element that a page needs before its first file: reads the settings, and loads the engine and the list after the
// first rendering.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { createSettings, type FileRules, isUnfinished, readFileRules } from '../core/config.ts';
import { leaveDeletion } from '../core/deletion-mark.ts';
import { EMPTY_SNAPSHOT } from '../core/empty-snapshot.ts';
import { toUploaderError, UploaderError } from '../core/errors.ts';
import { preconnect } from '../core/preconnect.ts';
import type { GetToken, Settings, SettingsInput } from '../core/settings-table.ts';
import type { Snapshot } from '../core/types.ts';
import { currentPeriod, endPeriod } from '../core/user.ts';
import { abortable, runAfter, sleep } from '../core/wait.ts';
import { listenOnPage } from './page.ts';
import { readSettings, refuseMisspellings, type SettingsHost } from './read-settings.ts';
import type { Uploads } from './uploads.ts';

/** The module that is loaded late. */
export type UploadsModule = typeof import('./uploads.ts');

export interface UploadsControllerHost extends ReactiveControllerHost, HTMLElement, SettingsHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
}

export interface UploadsControllerOptions {
  /** The function for the property `token`, which the page must not be able to read. */
  readonly tokens: { source: GetToken | undefined; assign(owner: string | undefined): void };
  /** Creates the uploads, with valid settings, when their module is loaded. */
  readonly open: (module: UploadsModule, input: SettingsInput) => Uploads;
  /** Called after `open`. */
  readonly onOpen: () => void;
}

/**
 * Why the element has no engine and no list: their code could not be loaded. `again`: the user can try again. `reload`: this has
 * failed, too, as in browsers that remember the failure, and after a release that has replaced the file.
 */
export type LoadFailure = 'again' | 'reload';

/**
 * How the module is loaded; the time after which it is requested again, and the longest time for both, in milliseconds. Tests
 * replace them.
 */
export const code = {
  load: (): Promise<UploadsModule> => import('./uploads.ts'),
  againMs: 1000,
  longestMs: 120_000,
};

/**
 * A call that waits for the uploads. One with `files` also waits until the user tries again, and while `base-url` is missing or a
 * problem of the settings is shown; a `sign-in`, which has no caller, in every case.
 */
interface WaitingCall {
  readonly kind: 'command' | 'files' | 'sign-in';
  act(uploads: Uploads): void;
  reject(error: unknown): void;
}

/** Why the settings cannot be used. The user sees it from the first file on, or if no template explains it. */
interface Problem {
  readonly error: unknown;
  readonly isShown: boolean;
}

/** Owns the uploads of one element. */
export class UploadsController implements ReactiveController {
  /** `undefined` while the code is not needed, is being loaded, or is loaded. */
  failure: LoadFailure | undefined;
  /** `undefined` until the code is loaded. */
  uploads: Uploads | undefined;
  readonly #host: UploadsControllerHost;
  readonly #options: UploadsControllerOptions;
  #problem: Problem | undefined;
  /** The last valid settings, until the engine has them. */
  #settings: Settings | undefined;
  #isTokenNew = false;
  #isRemoved = false;
  #loggedMessage = '';
  #removal = new AbortController();
  #isLoading = false;
  #hasTriedAgain = false;
  /** Calls in the order in which they were made. */
  #waitingCalls: readonly WaitingCall[] = [];

  constructor(host: UploadsControllerHost, options: UploadsControllerOptions) {
    this.#host = host;
    this.#options = options;
    host.addController(this);
    listenOnPage(host, 'online', () => {
      if (this.failure === 'again') this.#loadAgain();
    });
  }

  get snapshot(): Snapshot {
    return this.uploads?.uploader.snapshot ?? EMPTY_SNAPSHOT;
  }

  /** True if the user sees that the settings are invalid. */
  get isMisconfigured(): boolean {
    return this.#problem?.isShown ?? false;
  }

  /** True if no files can be added, because the settings are invalid, or because the engine cannot be loaded any more. */
  get isClosed(): boolean {
    return this.isMisconfigured || this.failure === 'reload';
  }

  /** Limits for files. Available even while the settings are invalid. */
  get fileRules(): FileRules {
    return this.#valid ?? readFileRules(readSettings(this.#host));
  }

  /**
   * Passes changed settings to the engine. The engine is created once `baseUrl` is set. `isTokenSet` is true if the page has just
   * set `getToken`; then `getToken` may be called again after a sign-out.
   */
  configure(isTokenSet: boolean): void {
    this.#isTokenNew ||= isTokenSet;
    try {
      this.#check(true);
      this.#allowSignIn();
    } catch {
      // `#heed` has logged the error.
    }
  }

  /** Prepares for files that are about to be added. */
  preconnect(): void {
    const settings = this.#valid;
    if (settings && this.uploads) this.uploads.uploader.preconnect();
    else if (settings) preconnect([settings.baseUrl, ...settings.uploadOrigins]);
  }

  /**
   * Calls `act` with the uploads: at once, or when their code is loaded, after the calls that were made before. Rejects with
   * `bad-config` if the settings are invalid, and with `network` if the code cannot be loaded.
   */
  use<T>(act: (uploads: Uploads) => T, kind: WaitingCall['kind'] = 'command'): Promise<Awaited<T>> {
    return new Promise((resolve, reject) => {
      // As in an `async` function, an error of `act` is a rejection.
      const call = (uploads: Uploads): void => {
        try {
          resolve(act(uploads) as Awaited<T>);
        } catch (error) {
          reject(error);
        }
      };
      if (this.uploads) return call(this.uploads);
      try {
        this.#check();
      } catch (error) {
        return reject(error);
      }
      this.#waitingCalls = [...this.#waitingCalls, { kind, act: call, reject }];
      if (!this.failure || kind === 'command') this.#load();
    });
  }

  /** Like `use`, for a call with files: it is not made with settings of before, also not in the task that sets others. */
  async useForFiles<T>(act: (uploads: Uploads) => T): Promise<Awaited<T>> {
    if (this.uploads) this.#check();
    return this.use(act, 'files');
  }

  /** Loads the code again, as the user asks for after a failure. */
  readonly tryAgain = (): void => {
    this.#hasTriedAgain = true;
    this.#loadAgain();
  };

  /**
   * Signs out. Deletes saved uploads even if the settings are invalid. If the code for it cannot be loaded, rejects with `network`,
   * and the next page that loads the code deletes them.
   */
  async signOut(): Promise<void> {
    // The engine may come late, or never.
    const period = currentPeriod();
    if (!this.uploads) {
      leaveDeletion();
      endPeriod(period);
    }
    try {
      await this.use(({ uploader }) => uploader.endPeriod(period));
    } catch (error) {
      if (!this.uploads) await this.#deleteUploads();
      throw error;
    }
  }

  hostConnected(): void {
    this.#removal.abort();
    this.#isRemoved = false;
    this.uploads?.uploader.restore();
  }

  /** Begins to load the code: after the first rendering, so that the drop zone does not wait for it. */
  hostUpdated(): void {
    if (!this.#settings || this.#isLoading || this.failure) return;
    preconnect([this.#settings.baseUrl]);
    this.#load();
  }

  /** Suspends the engine in the next task, unless the element is connected again by then (an element that is moved). */
  hostDisconnected(): void {
    this.#removal = new AbortController();
    runAfter(0, this.#removal.signal, () => {
      this.#isRemoved = true;
      void this.uploads?.uploader.suspend();
    });
  }

  get #valid(): Settings | undefined {
    return this.uploads?.uploader.settings ?? this.#settings;
  }

  #loadAgain(): void {
    this.failure = undefined;
    this.#host.requestUpdate();
    this.#load();
  }

  /** Loads the code, creates the uploads, and makes the calls that wait. Never throws. */
  #load(): void {
    if (this.uploads || this.#isLoading) return;
    this.#isLoading = true;
    this.#import()
      .then((module) => this.#open(module))
      .catch((error: unknown) => {
        const isExpected = error instanceof UploaderError;
        if (!isExpected) reportError(error);
        // Calls with files wait for other settings, or for the user.
        const mayWait = isExpected && this.failure !== 'reload';
        this.#endWaiting(error, mayWait ? ['command'] : ['command', 'files', 'sign-in']);
      })
      .finally(() => {
        this.#isLoading = false;
      });
  }

  /** Loads the code, and once more after a failure. */
  async #import(): Promise<UploadsModule> {
    const request = (): Promise<UploadsModule> => abortable(code.load(), AbortSignal.timeout(code.longestMs));
    try {
      return await request().catch(async () => {
        await sleep(code.againMs, new AbortController().signal);
        return request();
      });
    } catch (cause) {
      this.failure = this.#hasTriedAgain ? 'reload' : 'again';
      this.#host.requestUpdate();
      const error = new UploaderError('network', 'The code of the engine and the list could not be loaded', {
        cause,
      });
      console.error(`<${this.#host.localName}>: ${error.message}`, cause);
      throw error;
    }
  }

  #open(module: UploadsModule): void {
    // The page may have removed `base-url` meanwhile, which is no error.
    if (!this.#settings) throw new UploaderError('bad-config', 'base-url is missing');
    const input = this.#read();
    const uploads = this.#heed(() => this.#options.open(module, input));
    this.uploads = uploads;
    this.failure = undefined;
    this.#settings = undefined;
    if (this.#isRemoved) void uploads.uploader.suspend();
    this.#options.onOpen();
    const calls = this.#waitingCalls;
    this.#waitingCalls = [];
    for (const { act } of calls) act(uploads);
  }

  /** Deletes saved uploads without an engine, now or when the code for it can be loaded again. */
  async #deleteUploads(): Promise<void> {
    if (this.failure) return;
    const module = await this.#import();
    await module.deleteUploads();
  }

  /** In the order of the calls: a sign-out that waits must not end what the page has set since. */
  #allowSignIn(): void {
    if (!this.#isTokenNew) return;
    this.#isTokenNew = false;
    const act = ({ uploader }: Uploads): void => uploader.allowSignIn();
    if (this.uploads) act(this.uploads);
    else this.#waitingCalls = [...this.#waitingCalls, { kind: 'sign-in', act, reject: () => undefined }];
  }

  /**
   * Passes the settings to the engine, or checks them while there is no engine. Throws `bad-config`, and shows that the settings
   * are invalid. With `mayWait`, it does not show that while a template may not be filled in and no file waits for it.
   */
  #check(mayWait = false): void {
    const input = this.#read();
    const isEmpty = isUnfinished(input);
    const isRefused =
      isEmpty && Boolean(input.baseUrl) && this.#waitingCalls.some(({ kind }) => kind === 'files');
    try {
      this.#heed(
        () => {
          if (this.uploads) this.uploads.uploader.configure(input);
          else this.#settings = createSettings(input);
        },
        mayWait && isEmpty && !isRefused,
      );
    } catch (error) {
      if (isRefused) this.#endWaiting(error, ['files']);
      throw error;
    }
  }

  /** Rejects calls that wait. */
  #endWaiting(error: unknown, kinds: readonly WaitingCall['kind'][]): void {
    const over = this.#waitingCalls.filter(({ kind }) => kinds.includes(kind));
    this.#waitingCalls = this.#waitingCalls.filter(({ kind }) => !kinds.includes(kind));
    for (const { reject } of over) reject(error);
  }

  #read(): SettingsInput {
    const { tokens } = this.#options;
    const input = readSettings(this.#host);
    tokens.assign(input.owner);
    // The newer of both counts: setting `token` removes `getToken`.
    if (input.getToken) tokens.source = undefined;
    return { ...input, getToken: input.getToken ?? tokens.source };
  }

  /** Calls `action`. If it throws, the settings are invalid: shows this unless `isQuiet`, and rethrows the error. */
  #heed<T>(action: () => T, isQuiet = false): T {
    try {
      refuseMisspellings(this.#host);
      const result = action();
      this.#problem = undefined;
      return result;
    } catch (error) {
      this.#settings = undefined;
      if (isQuiet && !this.#problem?.isShown) this.#problem = { error, isShown: false };
      else this.#report(error);
      throw error;
    }
  }

  /** Shows that the settings are invalid, and logs the message if it is new. */
  #report(error: unknown): void {
    const { message } = toUploaderError(error, 'bad-config', 'The settings cannot be read');
    if (message !== this.#loggedMessage) console.error(`<${this.#host.localName}>: ${message}`);
    this.#loggedMessage = message;
    this.#problem = { error, isShown: true };
    this.#host.requestUpdate();
  }
}

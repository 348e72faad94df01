// The engine's face: a list of files, commands, and changes. It has no screen; the element is its first user.

import type { AuthSession } from '../auth/session.ts';
import type { Candidate, Change, ChangeMap, ChangeName } from '../core/changes.ts';
import { createSettings, type Settings, type SettingsInput, type Warn } from '../core/config.ts';
import { contentOf } from '../core/content.ts';
import { UploaderError } from '../core/errors.ts';
import { Listeners } from '../core/listeners.ts';
import type { FileId, PickedFile, Snapshot } from '../core/types.ts';
import { createHostBackoffs, type RetryPolicy } from '../core/wait.ts';
import { warnOnce } from '../core/warn.ts';
import { createUploadStore, type UploadStore } from '../store/uploads.ts';
import { Commands } from './commands.ts';
import { Connections, type ConnectOptions, connect, type Service, type Times } from './connection.ts';
import { Intake } from './intake.ts';
import { FileCache } from './resume/file-cache.ts';
import { TabLocks } from './resume/tab-locks.ts';
import { Scheduler } from './scheduler.ts';
import { SignOut } from './sign-out.ts';
import { SnapshotStore } from './snapshot-store.ts';
import { ConnectionMonitor } from './transfer/connection-monitor.ts';
import { ProgressThrottle } from './transfer/progress.ts';
import { UploadSlots } from './transfer/upload-slots.ts';
import type { UploadContext } from './upload.ts';

/** Options that are not settings of the page: timings, which tests shorten, and the store of uploads. */
export interface UploaderOptions {
  readonly times?: Times;
  readonly policy?: RetryPolicy;
  readonly store?: UploadStore;
  /** Called with a message for each invalid setting. Defaults to `console.warn`. */
  readonly warn?: Warn;
  /** Opens the service, sign-in and the workers. Defaults to the real ones. */
  readonly connect?: typeof connect;
}

/**
 * Uploads files to the service that its settings name. Commands resolve when what they say is so. Throws
 * `UploaderError` `bad-config` where `baseUrl` cannot be used, and outside a browser.
 */
export class Uploader {
  /** Asked before a file is taken; `false` refuses it without a word. */
  mayAdd: ((file: Candidate) => boolean) | undefined;
  /** Asked before sign-in leaves the page, and with it the chosen files; `false` stays. */
  mayRedirect: (() => boolean) | undefined;
  readonly #warn: Warn;
  readonly #store: UploadStore;
  readonly #tabLocks = new TabLocks();
  readonly #intake: Intake;
  /** Settles when the uploads of an earlier visit are in the list. */
  #restored: Promise<void>;
  readonly #listeners = new Listeners<void>();
  readonly #changeListeners = new Listeners<Change>();
  readonly #snapshots: SnapshotStore;
  readonly #slots: UploadSlots;
  #monitor: ConnectionMonitor;
  readonly #scheduler: Scheduler;
  readonly #commands: Commands;
  readonly #throttle = new ProgressThrottle();
  readonly #connections: Connections;
  readonly #signOut: SignOut;
  #state: 'open' | 'suspended' | 'closed' = 'open';

  constructor(settings: SettingsInput, { connect: open = connect, ...options }: UploaderOptions = {}) {
    if (!globalThis.location)
      throw new UploaderError(
        'bad-config',
        'Uploader runs in browsers only. On a server, do not create it before the page is loaded.',
      );
    this.#warn = warnOnce(options.warn);
    this.#store = options.store ?? createUploadStore();
    const checked = createSettings(settings, this.#warn);
    const how: ConnectOptions = {
      times: options.times,
      onSignOut: (...last) => this.#signOut.onSignOut(...last),
      confirmRedirect: () => this.mayRedirect?.() ?? true,
      connectionChange: () => this.#monitor.change,
    };
    this.#connections = new Connections(checked, (next) => open(next, this.#report, how), this.#onAuth);
    this.#snapshots = new SnapshotStore(this.#auth.snapshot);
    this.#slots = new UploadSlots(checked.concurrency);
    this.#monitor = new ConnectionMonitor(checked.throttleBytesPerSecond);
    this.#scheduler = new Scheduler(this.#slots, this.#report, () => this.#snapshots.files);
    this.#commands = new Commands(this.#scheduler, this.#report);
    const context: UploadContext = {
      slots: this.#slots,
      backoffOf: createHostBackoffs(),
      monitor: () => this.#monitor,
      tabLocks: this.#tabLocks,
      report: this.#report,
      throttle: this.#throttle,
      warn: this.#warn,
      bytesPerSecond: () => this.#snapshots.bytesPerSecond,
      onBytesSent: (bytes) => this.#snapshots.onBytesSent(bytes),
      onTransition: (...step) => {
        this.#commands.onTransition(...step);
        this.#scheduler.onTransition(...step);
      },
      ...(options.policy && { policy: options.policy }),
    };
    this.#intake = new Intake({
      snapshots: this.#snapshots,
      commands: this.#commands,
      context,
      store: this.#store,
      fileCache: new FileCache(this.#store, this.#warn),
    });
    this.#signOut = new SignOut(this.#commands, this.#intake, this.#store);
    this.#restored = this.#restore();
  }

  /** Everything that a view needs, frozen; the same object until something changes. */
  get snapshot(): Snapshot {
    return this.#snapshots.snapshot;
  }

  /** The settings in force, checked; the same object until some of them say something else. */
  get settings(): Settings {
    return this.#connections.current.settings;
  }

  /** Calls `listener` after changes, once for all changes of a task. Returns how to stop it. */
  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Calls `listener` with every change as it happens. Returns how to stop it. */
  onChange(listener: (change: Change) => void): () => void {
    return this.#changeListeners.add(listener);
  }

  /** Calls `listener` with the detail of every change of one name. Returns how to stop it. */
  on<K extends ChangeName>(name: K, listener: (detail: ChangeMap[K]) => void): () => void {
    return this.onChange((change) => {
      if (change.name === name) listener(change.detail as ChangeMap[K]);
    });
  }

  /** New settings, for files that are added from now on; slots and throttle for all. */
  configure(input: SettingsInput): void {
    const settings = createSettings(input, this.#warn);
    const before = this.#connections.current;
    if (contentOf(settings) === contentOf(before.settings)) return;
    this.#connections.configure(settings);
    this.#snapshots.setAuth(this.#auth.snapshot);
    this.#slots.configure(settings.concurrency);
    this.#monitor.bytesPerSecond = settings.throttleBytesPerSecond;
    const { owner } = before.settings;
    const left = settings.owner === owner ? undefined : this.#intake.leaveOwner(owner);
    if (left && owner !== '') {
      this.dismissRejections();
      this.#connections.leaveAuth();
    }
    this.#restored = Promise.all([this.#restored, left])
      .then(() => this.#restore())
      .then(() => this.#closeUnused());
    if (this.#state !== 'open') this.#connections.close();
    this.#listeners.tellSoon();
  }

  /** Takes files into the list, or refuses each with its reason; they start by themselves unless `manual`. */
  async addFiles(files: Iterable<PickedFile | File> | PickedFile | File): Promise<void> {
    // The list of a file input is emptied as soon as the page clears the input.
    const list = Symbol.iterator in files ? [...files] : [files];
    await this.#intake.add(list, this.#connections.current, (file) => this.mayAdd?.(file) ?? true);
  }

  /**
   * Gives a row that waits for its file (`needs-file`) what was picked; another file is refused with `wrong-file`. Without
   * `file` the browser is asked for it, which needs a click and a handle of before: false where that gave nothing.
   */
  async provide(id: FileId, file?: PickedFile | File): Promise<boolean> {
    if (!file) return this.#intake.ask(id);
    await this.#intake.provide(id, file);
    return true;
  }

  /** Starts files that wait for it (`manual`), one or all. */
  async start(id?: FileId): Promise<void> {
    await this.#commands.apply({ type: 'start' }, id);
  }

  pause(id?: FileId): Promise<void> {
    return this.#commands.apply({ type: 'pause' }, id);
  }

  resume(id?: FileId): Promise<void> {
    return this.#commands.apply({ type: 'resume' }, id);
  }

  /** Gives up one or all files that are not done, and forgets what was kept of them. */
  cancel(id?: FileId): Promise<void> {
    return this.#commands.apply({ type: 'cancel' }, id);
  }

  /** Begins failed files anew, where they stopped; a canceled one only by its id. One of them may get another name. */
  retry(id?: FileId, name?: string): Promise<void> {
    return this.#commands.apply({ type: 'retry', isNamed: id !== undefined, newName: id && name }, id);
  }

  /** Takes a file off the list; one that is not done is canceled first. */
  async remove(id: FileId): Promise<void> {
    await this.#commands.apply({ type: 'remove' }, id);
    this.#closeUnused();
  }

  /** Takes everything that is settled off the list, refusals too. */
  async clear(): Promise<void> {
    this.dismissRejections();
    await this.#commands.apply({ type: 'clear' });
    this.#closeUnused();
  }

  /** Puts a file before another one of the list, or at the end: it has its turn there. */
  async move(id: FileId, beforeId?: FileId): Promise<void> {
    this.#commands.reorder(id, beforeId);
  }

  /** Puts a file before all others. */
  async prioritize(id: FileId): Promise<void> {
    this.#commands.prioritize(id);
  }

  dismissRejections(ids: readonly string[] = this.snapshot.rejections.map(({ id }) => id)): void {
    if (ids.length > 0) this.#report({ name: 'rejections-dismissed', detail: { ids } });
  }

  /** Asks the person to sign in, in the way of the settings unless told. Call it in the click itself, or the window is blocked. */
  signIn(via?: 'popup' | 'redirect'): void {
    this.#auth.signIn(via);
  }

  cancelSignIn(): void {
    this.#auth.cancel();
  }

  /**
   * Forgets the token, empties the list, and deletes what is kept of this origin's uploads, offline too; then tells the service, for
   * 10 seconds at most. Rejects with `store-unavailable` where something could not be deleted.
   */
  signOut(): Promise<void> {
    this.dismissRejections();
    return this.#signOut.begin(this.#connections.services);
  }

  /** Lets the page be asked for tokens again after a sign-out, as `signIn()` does, but shows nothing. */
  allowSignIn(): void {
    this.#auth.allow();
  }

  /**
   * Pauses everything and closes whatever belongs to the page (listeners, channels, connections); `restore()` undoes it. Resolves when
   * every Web Lock is released, so that another uploader or tab can take the uploads.
   */
  async suspend(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'suspended';
    this.#scheduler.suspend();
    this.#intake.stopRestoring();
    const paused = this.#commands.apply({ type: 'suspend' });
    this.#closeConnections();
    await paused;
    await this.#tabLocks.allReleased();
  }

  /** Resumes the uploads that `suspend()` has paused. */
  restore(): void {
    if (this.#state !== 'suspended') return;
    this.#state = 'open';
    this.#snapshots.setAuth(this.#auth.snapshot);
    this.#monitor = new ConnectionMonitor(this.settings.throttleBytesPerSecond);
    this.#tabLocks.open();
    this.#scheduler.restore();
    void this.#commands.apply({ type: 'restore' });
    this.#restored = this.#restored.then(() => this.#restore());
    this.#listeners.tellSoon();
  }

  /**
   * Ends all work and keeps what is saved; resolves when every Web Lock is released, so that another uploader or tab can take the
   * uploads at once. The engine cannot be used after.
   */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#scheduler.close();
    this.#intake.stop();
    this.#throttle.close();
    await this.#commands.apply({ type: 'close' });
    this.#closeConnections();
    await this.#tabLocks.allReleased();
  }

  #closeConnections(): void {
    this.#monitor.close();
    this.#tabLocks.close();
    this.#connections.close();
  }

  /** What cannot be restored must not keep new files from being added. */
  async #restore(): Promise<void> {
    const isRunning = await this.#tabLocks.listLocked();
    await this.#store.prune(this.settings.keepMs, isRunning).catch(() => undefined);
    // The list may have been suspended or closed meanwhile; `restore()` comes here again.
    if (this.#state !== 'open') return;
    await this.#intake
      .restore(this.#connections.current)
      .catch((error: unknown) => globalThis.reportError?.(error));
  }

  readonly #report = (change: Change): void => {
    this.#snapshots.apply(change);
    const frozen = Object.freeze({ name: change.name, detail: Object.freeze(change.detail) }) as Change;
    this.#changeListeners.tell(frozen);
    this.#listeners.tellSoon();
  };

  get #auth(): AuthSession {
    return this.#connections.current.service.client.auth;
  }

  readonly #onAuth = (service: Service): void => {
    if (service === this.#connections.current.service) this.#snapshots.setAuth(this.#auth.snapshot);
    this.#scheduler.onAuth(service);
    this.#listeners.tellSoon();
  };

  /** A finished upload needs its service no more. */
  #closeUnused(): void {
    const open = this.#commands.all.filter(({ phase }) => phase !== 'done');
    this.#connections.closeUnused(open.map(({ connection }) => connection));
  }
}

export type * from '../core/auth-options.ts';
export type * from '../core/changes.ts';
export {
  createSettings,
  type GetToken,
  type Profile,
  type Settings,
  type SettingsInput,
} from '../core/config.ts';
export { ERROR_CODES, type ErrorCode, UploaderError } from '../core/errors.ts';
export type { PauseReason, Phase } from '../core/phases.ts';
export type * from '../core/types.ts';

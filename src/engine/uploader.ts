// The public class of the headless engine.

import type { Candidate, Change, ChangeMap, ChangeName } from '../core/changes.ts';
import { createSettings } from '../core/config.ts';
import { contentOf } from '../core/content.ts';
import { UploaderError } from '../core/errors.ts';
import { createHosts } from '../core/host.ts';
import { listOf } from '../core/list-of.ts';
import { preconnect } from '../core/preconnect.ts';
import { userOf } from '../core/readers.ts';
import type { Settings, SettingsInput } from '../core/settings-table.ts';
import type { FileId, PickedFile, Snapshot, UnreadableFile } from '../core/types.ts';
import { CurrentUser, currentPeriod } from '../core/user.ts';
import { whenIdle } from '../core/wait.ts';
import { type Warn, warnOnce } from '../core/warn.ts';
import { Commands } from './commands.ts';
import { Connections, type ConnectOptions, connect, type Service } from './connection.ts';
import { Intake } from './intake.ts';
import { createLateTrace } from './late-trace.ts';
import { warnLate } from './late-warnings.ts';
import { Reconnect } from './reconnect.ts';
import { Deletion } from './resume/deletion.ts';
import { FileCache } from './resume/file-cache.ts';
import { Restorer } from './resume/restore.ts';
import { TabLocks } from './resume/tab-locks.ts';
import { SavedUploads } from './resume/upload-store.ts';
import { Scheduler } from './scheduler.ts';
import { SignOut } from './sign-out.ts';
import { SnapshotStore } from './snapshot-store.ts';
import type { Diagnosis } from './trace.ts';
import { ConnectionMonitor } from './transfer/connection-monitor.ts';
import { ProgressThrottle } from './transfer/progress.ts';
import { UploadSlots } from './transfer/upload-slots.ts';
import { Undo } from './undo.ts';
import type { UploadContext } from './upload.ts';
import type { UploaderOptions } from './uploader-options.ts';

/**
 * Uploads files to the service at `baseUrl`. Commands return a promise that resolves when they are complete. The constructor throws
 * `UploaderError` `bad-config` if `baseUrl` is missing or invalid, or outside a browser.
 *
 * @example
 * ```ts
 * import { Uploader } from 'secure-uploader/engine';
 *
 * const uploader = new Uploader({
 *   baseUrl: 'https://files.example.com',
 *   parentId: 'folder-a',
 *   accept: 'image/*,.pdf',
 *   multiple: true,
 *   getToken: async () => (await fetch('/api/upload-token', { method: 'POST' })).json(),
 * });
 * uploader.on('upload-completed', ({ name, chunks }) => console.log(name, chunks.map(({ receipt }) => receipt)));
 * uploader.on('upload-failed', ({ name, code }) => console.log(name, code));
 * ```
 */
export class Uploader {
  /**
   * Called before a file is added. Return `false` to skip it without a rejection.
   *
   * @example
   * ```ts
   * uploader.mayAdd = ({ name }) => !name.startsWith('.');
   * ```
   */
  mayAdd: ((file: Candidate) => boolean) | undefined;
  /** Called before sign-in leaves the page, which loses the picked files. Return `false` to stay on the page. */
  mayRedirect: (() => boolean) | undefined;
  readonly #warn: Warn;
  readonly #tabLocks: TabLocks;
  readonly #intake: Intake;
  readonly #restorer: Restorer;
  /** Promise that resolves when the uploads of earlier visits are in the list. */
  #restored: Promise<void>;
  readonly #snapshots: SnapshotStore;
  readonly #slots: UploadSlots;
  #monitor: ConnectionMonitor;
  readonly #scheduler: Scheduler;
  readonly #commands: Commands;
  readonly #throttle = new ProgressThrottle();
  readonly #connections: Connections;
  readonly #signOut: SignOut;
  readonly #reconnect: Reconnect;
  readonly #user: CurrentUser;
  #state: 'open' | 'suspended' | 'closed' = 'open';
  /** Why the last settings could not be read; `undefined` if they could. */
  #problem: unknown;
  readonly #trace: ReturnType<typeof createLateTrace>;
  /** @internal Cancels and removes uploads so that the user can undo it. */
  readonly undo: Undo;

  constructor(settings: SettingsInput, options: UploaderOptions = {}) {
    const { connect: open = connect } = options;
    if (!globalThis.location) throw new UploaderError('bad-config', 'Uploader runs in browsers only');
    warnLate('warnOfOptions', options);
    this.#warn = warnOnce(options.warn);
    const validSettings = createSettings(settings, this.#warn);
    this.#user = new CurrentUser(validSettings.owner);
    this.#trace = createLateTrace(this, this.#user, options.onSpan);
    this.#tabLocks = new TabLocks(options.page, () => this.#restoreAgain());
    const connectOptions: ConnectOptions = {
      times: options.times,
      onSignOut: (...args) => this.#signOut.onSignOut(...args),
      confirmRedirect: () => this.mayRedirect?.() ?? true,
      connectionChange: () => this.#monitor.change,
    };
    const openClient = (current: Settings) => open(current, this.#report, connectOptions);
    this.#connections = new Connections(validSettings, openClient, this.#onAuth);
    this.#slots = new UploadSlots(validSettings.concurrency);
    this.#monitor = new ConnectionMonitor(validSettings.throttle);
    this.#scheduler = new Scheduler(this.#slots, this.#report, () => this.#snapshots.onListChange());
    this.#snapshots = new SnapshotStore(this.#connections.auth.snapshot, () =>
      this.#scheduler.all.map(({ snapshot }) => snapshot),
    );
    this.#reconnect = new Reconnect(this.#connections, this.#scheduler, () => this.#closeUnused());
    this.#commands = new Commands(this.#scheduler);
    this.undo = new Undo(this.#scheduler, (...command) => this.#applyTo(...command));
    const context: UploadContext = {
      slots: this.#slots,
      hostOf: createHosts(),
      monitor: () => this.#monitor,
      tabLocks: this.#tabLocks,
      report: this.#report,
      throttle: this.#throttle,
      trace: this.#trace,
      warn: this.#warn,
      bytesPerSecond: () => this.#snapshots.bytesPerSecond,
      onBytesSent: (bytes) => this.#snapshots.onBytesSent(bytes),
      onChange: () => this.#snapshots.onListChange(),
      onTransition: (...step) => {
        this.#scheduler.onTransition(...step);
        if (this.#scheduler.isIdle) this.#snapshots.onIdle();
      },
      policy: options.policy,
      commitDeadlineMs: options.commitDeadlineMs,
      times: options.times,
    };
    const deletion = new Deletion(options.store ?? new SavedUploads());
    const { store } = deletion;
    const shared = {
      scheduler: this.#scheduler,
      commands: this.#commands,
      context,
      store,
      fileCache: new FileCache(store, this.#warn),
      snapshots: this.#snapshots,
    };
    this.#intake = new Intake(shared);
    const parts = { ...shared, intake: this.#intake, user: this.#user };
    this.#restorer = new Restorer({ ...parts, onReturn: () => this.#restoreAgain() });
    this.#signOut = new SignOut({ ...parts, deletion, restorer: this.#restorer });
    this.#user.onChange(() => this.undo.forget());
    this.#user.connect();
    if (options.onSpan) this.#trace.load().catch(reportError);
    this.#restored = this.#restore();
    preconnect([validSettings.baseUrl]);
  }

  /** Frozen state of the list and of sign-in. The same object until something changes. */
  get snapshot(): Snapshot {
    return this.#snapshots.snapshot;
  }

  /** Current settings, parsed. The same object until a setting changes. */
  get settings(): Settings {
    return this.#connections.current.settings;
  }

  /**
   * Calls `listener` once after all changes in the same task. Returns a function that removes the listener.
   *
   * @example
   * ```ts
   * const unsubscribe = uploader.subscribe(() => {
   *   for (const { name, phase, sentBytes } of uploader.snapshot.files) console.log(name, phase, sentBytes);
   * });
   * unsubscribe(); // when the view is removed
   * ```
   */
  subscribe(listener: () => void): () => void {
    return this.#snapshots.subscribe(listener);
  }

  /** Calls `listener` synchronously with every change. Returns a function that removes the listener. */
  onChange(listener: (change: Change) => void): () => void {
    return this.#snapshots.onChange(listener);
  }

  /** Calls `listener` with the detail of every change with this name. Returns a function that removes the listener. */
  on<K extends ChangeName>(name: K, listener: (detail: ChangeMap[K]) => void): () => void {
    return this.onChange((change) => {
      if (change.name === name) listener(change.detail as ChangeMap[K]);
    });
  }

  /**
   * Replaces all settings. `concurrency` and `throttle` apply immediately, most others only to files that are added afterwards. If
   * `owner` changes, the uploads of the previous owner leave the list, even if this method throws `bad-config` because a setting
   * cannot be read. No file is added then, until settings can be read.
   *
   * @example
   * ```ts
   * uploader.configure({ baseUrl: 'https://files.example.com', parentId: 'folder-b', throttle: '2MB' });
   * ```
   */
  configure(input: SettingsInput): void {
    const hadProblem = this.#problem !== undefined;
    const settings = this.#read(input);
    this.#problem = undefined;
    if (hadProblem || contentOf(settings) !== contentOf(this.settings)) this.#apply(settings);
  }

  /** Reads settings. If they cannot be read, leaves another owner: the next one is named only with settings that can be read. */
  #read(input: SettingsInput): Settings {
    try {
      return createSettings(input, this.#warn);
    } catch (error) {
      this.#problem = error;
      if (!['', userOf(input.owner)].includes(this.settings.owner))
        this.#apply(Object.freeze({ ...this.settings, owner: '', getToken: undefined }));
      throw error;
    }
  }

  #apply(settings: Settings): void {
    const { owner } = this.settings;
    this.#connections.configure(settings);
    this.#snapshots.setAuth(this.#connections.auth.snapshot);
    this.#slots.configure(settings.concurrency);
    this.#scheduler.onLimitChange();
    this.#monitor.bytesPerSecond = settings.throttle;
    const leaving = settings.owner === owner ? undefined : this.#signOut.leaveOwner(owner, settings.owner);
    if (leaving && owner !== '') this.#connections.leaveAuth();
    this.#restored = Promise.all([this.#restored, leaving, this.#reconnect.run()])
      .then(() => this.#restore())
      .then(() => this.#closeUnused());
    if (this.#state !== 'open') this.#connections.close();
  }

  /**
   * Adds files to the list, or rejects them with a reason (`file-rejected`). Uploads start automatically unless `manual` is set.
   *
   * @example
   * ```ts
   * input.addEventListener('change', () => uploader.addFiles(input.files ?? []));
   * await uploader.addFiles({ file, relativePath: 'reports/2026/report.pdf' });
   * ```
   */
  async addFiles(
    files: Iterable<PickedFile | UnreadableFile | File> | PickedFile | UnreadableFile | File,
  ): Promise<void> {
    const list = listOf(files);
    this.#user.look();
    if (this.#problem !== undefined) throw this.#problem;
    warnLate('warnOfSettings', this.settings);
    preconnect(this.settings.uploadOrigins);
    await this.#intake.add(list, this.#connections.current, (file) => this.mayAdd?.(file) ?? true);
  }

  /**
   * Opens connections to `baseUrl` and to `uploadOrigins`, and starts hash workers, so that the next upload starts sooner. Sends
   * nothing. Call this method when the user is about to add files. The constructor connects to `baseUrl`, and `addFiles()` connects
   * to `uploadOrigins`. Workers that get no file end after half a minute.
   *
   * @example
   * ```ts
   * input.addEventListener('pointerenter', () => uploader.preconnect());
   * ```
   */
  preconnect(): void {
    if (this.#state === 'open') this.#connections.preconnect();
  }

  /**
   * Gives an upload the file that it needs (`needs-file`), which may have another name or date. A different file is rejected with
   * `wrong-file`. Without `file`, gets the file from its saved handle, and resolves with false if that fails: call it in a click
   * handler, since the browser may ask the user for permission.
   *
   * @example
   * ```ts
   * const waiting = uploader.snapshot.files.filter(({ pauseReason }) => pauseReason === 'needs-file');
   * button.addEventListener('click', () => waiting[0] && uploader.provide(waiting[0].id));
   * ```
   */
  async provide(id: FileId, file?: PickedFile | UnreadableFile | File): Promise<boolean> {
    if (!file) return this.#intake.ask(id);
    await this.#intake.provide(id, file);
    return true;
  }

  /** @internal Returns the file of an upload, if the page has it. */
  fileOf(id: FileId): File | undefined {
    return this.#scheduler.get(id)?.picked?.file;
  }

  /** Starts the upload with this id; without an id, all uploads. Needed only with `manual`. */
  async start(id?: FileId): Promise<void> {
    await this.#commands.apply({ type: 'start' }, id);
  }

  /** Pauses the upload with this id; without an id, all uploads. */
  pause(id?: FileId): Promise<void> {
    return this.#commands.apply({ type: 'pause' }, id);
  }

  /** Resumes the upload with this id; without an id, all uploads that the user paused. */
  resume(id?: FileId): Promise<void> {
    return this.#commands.apply({ type: 'resume' }, id);
  }

  /** Cancels the upload with this id; without an id, all uploads that are not done. Deletes their saved progress. */
  cancel(id?: FileId): Promise<void> {
    return this.#commands.apply({ type: 'cancel' }, id);
  }

  /**
   * Retries the failed upload with this id; without an id, all failed uploads. Stored chunks are not sent again. With an id, also
   * restarts a canceled upload, and `name` renames the upload.
   *
   * @example
   * ```ts
   * uploader.on('upload-failed', ({ id, code }) => {
   *   if (code === 'name-taken') void uploader.retry(id, 'report (2).pdf');
   * });
   * ```
   */
  retry(id?: FileId, name?: string): Promise<void> {
    return this.#commands.apply({ type: 'retry', isNamed: id !== undefined, newName: id && name }, id);
  }

  /** @internal Retries several failed uploads. */
  retryFiles(ids: readonly FileId[]): Promise<void> {
    const uploads = ids.flatMap((id) => this.#scheduler.get(id) ?? []);
    return this.#applyTo(uploads, { type: 'retry', isNamed: false });
  }

  /** Removes an upload from the list. An upload that is not done is canceled first. */
  async remove(id: FileId): Promise<void> {
    await this.#commands.apply({ type: 'remove' }, id);
    this.#closeUnused();
  }

  /** Removes rejections and all uploads that are done or canceled. Failed uploads stay, so that they can be retried. */
  async clear(): Promise<void> {
    this.dismissRejections();
    await this.#commands.apply({ type: 'clear' });
    this.#closeUnused();
  }

  /** Moves an upload before the upload `beforeId`, or to the end. Uploads start in the order of the list. */
  async move(id: FileId, beforeId?: FileId): Promise<void> {
    this.#scheduler.reorder(id, beforeId);
  }

  /** Moves an upload to the front, and starts it without waiting for the running uploads. */
  async prioritize(id: FileId): Promise<void> {
    this.#scheduler.prioritize(id);
  }

  /** Removes the rejections with these ids from the snapshot. By default, removes all rejections. */
  dismissRejections(ids?: readonly string[]): void {
    this.#snapshots.dismissRejections(ids);
  }

  /** Starts sign-in. `via` overrides the setting `auth`. Call this method in a click handler, or the browser blocks the popup. */
  signIn(via?: 'popup' | 'redirect'): void {
    this.#connections.allowSignIn(this.#connections.current.service);
    this.#connections.auth.signIn(via);
  }

  /** Cancels a sign-in in progress. */
  cancelSignIn(): void {
    this.#connections.auth.cancel();
  }

  /**
   * Deletes the token, empties the list, and deletes all saved uploads of this origin, even offline. Then signs out on the service,
   * with a timeout of 10 seconds. Rejects with `store-unavailable` if saved data could not be deleted: then the next uploader that
   * uses saved uploads, in any tab or visit, deletes them first.
   *
   * @example
   * ```ts
   * try {
   *   await uploader.signOut();
   * } catch (error) {
   *   if (error instanceof UploaderError) console.warn('Saved uploads could not be deleted', error.code);
   * }
   * ```
   */
  signOut(): Promise<void> {
    return this.endPeriod(currentPeriod());
  }

  /** @internal Signs out, unless the period is over: the element may have waited for the engine meanwhile. */
  endPeriod(period: string): Promise<void> {
    return this.#signOut.begin(this.#connections.services, period);
  }

  /**
   * Lets the uploader call `getToken` again after a sign-out, and sooner after it has failed. Unlike `signIn()`, this method opens
   * no window or form.
   */
  allowSignIn(): void {
    this.#connections.allowSignIn();
  }

  /**
   * Resolves with plain data for a support ticket: settings, what the browser can do, the last spans and errors. It has no names of
   * files, no presigned URLs and no secrets. The first call also starts to record spans. Rejects if its code cannot be loaded.
   *
   * @example
   * ```ts
   * button.addEventListener('click', async () => {
   *   await navigator.clipboard.writeText(JSON.stringify(await uploader.diagnose(), undefined, 2));
   * });
   * ```
   */
  async diagnose(): Promise<Diagnosis> {
    const trace = await this.#trace.load();
    return trace.report(this.snapshot, this.settings);
  }

  /**
   * Pauses all uploads, and closes connections and event listeners, until `restore()`. Resolves when all Web Locks are released, so
   * that another uploader or tab can run the uploads; earlier if `restore()` is called meanwhile.
   *
   * @example
   * ```ts
   * await uploader.suspend(); // the view is removed
   * uploader.restore(); // the view is shown again
   * ```
   */
  async suspend(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'suspended';
    this.#scheduler.suspend();
    this.#restorer.stop();
    this.#user.disconnect();
    const paused = this.#commands.apply({ type: 'suspend' });
    this.#closeConnections();
    await paused;
    // After `restore()`, running uploads hold the locks again.
    if (this.#state === 'suspended') await this.#tabLocks.allReleased();
  }

  /** Undoes `suspend()`, and resumes the uploads that `suspend()` paused. */
  restore(): void {
    if (this.#state !== 'suspended') return;
    this.#state = 'open';
    this.#user.connect();
    this.#snapshots.setAuth(this.#connections.auth.snapshot);
    this.#monitor = new ConnectionMonitor(this.settings.throttle);
    this.#tabLocks.open();
    this.#scheduler.restore();
    this.#connections.preload();
    void this.#commands.apply({ type: 'restore' });
    this.#restoreAgain();
  }

  /**
   * Stops all uploads and keeps their saved progress. Resolves when all Web Locks are released, so that another uploader or tab can
   * run the uploads. The uploader cannot be used afterwards.
   */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#snapshots.close();
    this.#user.close();
    this.#scheduler.suspend();
    this.undo.forget();
    this.#intake.stop();
    this.#restorer.close();
    this.#reconnect.close();
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

  #restoreAgain(): void {
    this.#restored = this.#restored.then(() => this.#restore());
  }

  /** Restores saved uploads. Never rejects: after a failure, the user can still add new files. */
  async #restore(): Promise<void> {
    // If `suspend()` was called in the meantime, the next `restore()` calls this method again.
    if (this.#state !== 'open' || this.#problem !== undefined) return;
    await this.#restorer
      .restore(this.#connections.current)
      .catch((error: unknown) => globalThis.reportError?.(error));
    whenIdle(() => this.#state === 'open' && void this.#restorer.prune(this.#connections.current));
  }

  async #applyTo(...command: Parameters<Commands['applyTo']>): Promise<void> {
    await this.#commands.applyTo(...command);
    this.#closeUnused();
  }

  readonly #report = (change: Change): void => this.#snapshots.report(change);

  readonly #onAuth = (service: Service): void => {
    if (service === this.#connections.current.service)
      this.#snapshots.setAuth(this.#connections.auth.snapshot);
    this.#scheduler.onAuth(service);
    void this.#reconnect.run();
  };

  /** Closes services that no unfinished upload uses. */
  #closeUnused(): void {
    const open = this.#scheduler.all.filter(({ phase }) => phase !== 'done');
    this.#connections.closeUnused(open.map(({ connection }) => connection));
  }
}

// The engine's face: a list of files, commands, and changes. It has no screen; the element is its first user.

import type { Candidate, Change, ChangeMap, ChangeName } from '../core/changes.ts';
import { createSettings, type Settings, type SettingsInput, type Warn } from '../core/config.ts';
import { contentOf } from '../core/content.ts';
import type { FileId, PickedFile, Snapshot } from '../core/types.ts';
import type { RetryPolicy } from '../core/wait.ts';
import { warnOnce } from '../core/warn.ts';
import { Claims } from '../pipeline/upload.ts';
import { createUploadStore, type UploadStore } from '../store/uploads.ts';
import { type Connection, connect, type Times } from './connection.ts';
import { Connections } from './connections.ts';
import { createGates } from './gates.ts';
import { Intake } from './intake.ts';
import { KeptFiles } from './kept-files.ts';
import { Lanes } from './lanes.ts';
import { Line } from './line.ts';
import { Listeners } from './listeners.ts';
import { SnapshotKeeper } from './reducer.ts';
import { Runs } from './runs.ts';
import type { Shared } from './shared.ts';
import { Tabs } from './tabs.ts';

/** What is not a setting of the page: times that tests make small, and where uploads are kept. */
export interface UploaderOptions {
  readonly times?: Times;
  readonly policy?: RetryPolicy;
  readonly store?: UploadStore;
  /** Hears of settings that are not understood; the console's `warn` unless told. */
  readonly warn?: Warn;
  /** Puts service, sign-in and workers together; the real ones unless told. */
  readonly connect?: typeof connect;
}

/**
 * Uploads files to the service that its settings name. Commands resolve when what they say is so. Throws
 * `UploaderError` `bad-config` when `baseUrl` cannot be used.
 */
export class Uploader {
  /** Asked before a file is taken; `false` refuses it without a word. */
  mayAdd: ((file: Candidate) => boolean) | undefined;
  /** Asked before sign-in leaves the page, and with it the chosen files; `false` stays. */
  mayRedirect: (() => boolean) | undefined;
  readonly #warn: Warn;
  readonly #store: UploadStore;
  readonly #tabs = new Tabs();
  readonly #kept: KeptFiles;
  readonly #intake: Intake;
  /** Settles when the uploads of an earlier visit are in the list. */
  #restored: Promise<void>;
  readonly #listeners = new Listeners<void>();
  readonly #changeListeners = new Listeners<Change>();
  readonly #keeper: SnapshotKeeper;
  readonly #lanes: Lanes;
  #line: Line;
  readonly #runs: Runs;
  readonly #connections: Connections;
  /** The list is put aside. */
  #isResting = false;

  constructor(settings: SettingsInput, { connect: open = connect, ...options }: UploaderOptions = {}) {
    this.#warn = warnOnce(options.warn);
    this.#store = options.store ?? createUploadStore();
    this.#kept = new KeptFiles(this.#store.files, this.#warn);
    const checked = createSettings(settings, this.#warn);
    const how = {
      times: options.times,
      confirmRedirect: () => this.mayRedirect?.() ?? true,
      lineChange: () => this.#line.change,
    };
    this.#connections = new Connections(checked, (next) => open(next, this.#report, how), this.#onAuth);
    this.#keeper = new SnapshotKeeper(this.#connections.current.auth.snapshot);
    this.#lanes = new Lanes(checked.concurrency);
    this.#line = new Line(checked.throttleBytesPerSecond);
    this.#runs = new Runs(this.#keeper, this.#lanes, this.#tabs, this.#report);
    const shared: Shared = {
      lanes: this.#lanes,
      claims: new Claims(),
      gateOf: createGates(),
      line: () => this.#line,
      tabs: this.#tabs,
      phaseOf: (id) => this.#keeper.file(id)?.phase,
      report: this.#report,
      touch: this.#runs.turns.touched.touch,
      warn: this.#warn,
      bytesPerSecond: () => this.#keeper.bytesPerSecond,
      ...(options.policy && { policy: options.policy }),
    };
    this.#intake = new Intake({
      keeper: this.#keeper,
      runs: this.#runs,
      shared,
      store: this.#store,
      kept: this.#kept,
    });
    this.#restored = this.#restore();
  }

  /** Everything that a view needs, frozen; the same object until something changes. */
  get snapshot(): Snapshot {
    return this.#keeper.snapshot;
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

  /** New settings, for files that are added from now on; lanes and throttle for all. */
  configure(input: SettingsInput): void {
    const settings = createSettings(input, this.#warn);
    const before = this.#connections.current;
    if (contentOf(settings) === contentOf(before.settings)) return;
    this.#connections.current = this.#connections.open(settings);
    this.#keeper.setAuth(this.#connections.current.auth.snapshot);
    this.#lanes.configure(settings.concurrency);
    this.#line.bytesPerSecond = settings.throttleBytesPerSecond;
    const { owner } = before.settings;
    const left = settings.owner === owner ? undefined : this.#intake.leaveOwner(owner);
    if (left && owner !== '') this.dismissRejections();
    this.#restored = Promise.all([this.#restored, left])
      .then(() => this.#restore())
      .then(() => this.#closeUnused(before));
    if (this.#isResting) this.#connections.close(this.#connections.current);
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
    this.#runs.start(id);
  }

  pause(id?: FileId): Promise<void> {
    return this.#runs.pause(id);
  }

  resume(id?: FileId): Promise<void> {
    return this.#runs.resume(id);
  }

  /** Gives up one or all files that are not done, and forgets what was kept of them. */
  cancel(id?: FileId): Promise<void> {
    return this.#runs.cancel(id);
  }

  /** Begins failed files anew, where they stopped; a canceled one only by its id. One of them may get another name. */
  retry(id?: FileId, name?: string): Promise<void> {
    return this.#runs.retry(id, name);
  }

  /** Takes a file off the list; one that is not done is canceled first. */
  remove(id: FileId): Promise<void> {
    return this.#runs.remove(id);
  }

  /** Takes everything that is settled off the list, refusals too. */
  async clear(): Promise<void> {
    this.dismissRejections();
    await this.#runs.clear();
  }

  /** Puts a file before another one of the list, or at the end: it has its turn there. */
  async move(id: FileId, beforeId?: FileId): Promise<void> {
    this.#runs.move(id, beforeId);
  }

  /** Puts a file before all others. */
  async prioritize(id: FileId): Promise<void> {
    this.#runs.prioritize(id);
  }

  dismissRejections(ids: readonly string[] = this.snapshot.rejections.map(({ id }) => id)): void {
    if (ids.length > 0) this.#report({ name: 'rejections-dismissed', detail: { ids } });
  }

  /** Asks the person to sign in, in the way of the settings unless told. Call it in the click itself, or the window is blocked. */
  signIn(via?: 'popup' | 'redirect'): void {
    this.#connections.current.auth.signIn(via);
  }

  cancelSignIn(): void {
    this.#connections.current.auth.cancel();
  }

  /** Forgets the token and everything that was kept of this origin's uploads; files that are not done are canceled. */
  async signOut(): Promise<void> {
    const canceled = this.#runs.cancel();
    await Promise.all([canceled, ...this.#connections.all.map(({ auth }) => auth.signOut(canceled))]);
    await this.#store.clear().catch(() => undefined);
  }

  /** For a list that is put aside, perhaps for good: it rests, holds nothing of the page, and others may have its uploads. */
  async rest(): Promise<void> {
    if (this.#isResting) return;
    this.#isResting = true;
    const paused = this.#runs.rest();
    this.#letGo();
    await paused;
  }

  /** Goes on with what `rest()` has paused. */
  wake(): void {
    if (!this.#isResting) return;
    this.#isResting = false;
    const again = this.#connections.reopen();
    for (const row of this.#runs.all) row.connection = again(row.connection);
    this.#keeper.setAuth(this.#connections.current.auth.snapshot);
    this.#line = new Line(this.settings.throttleBytesPerSecond);
    this.#kept.wake();
    this.#tabs.open();
    void this.#runs.wake();
    this.#restored = this.#restored.then(() => this.#restore());
    this.#listeners.tellSoon();
  }

  /** Ends all work and keeps what is saved. The engine cannot be used after. */
  async close(): Promise<void> {
    await this.#runs.close();
    this.#letGo();
  }

  #letGo(): void {
    this.#line.close();
    this.#tabs.close();
    this.#kept.rest();
    for (const connection of this.#connections.all) this.#connections.close(connection);
  }

  /** What cannot be restored must not keep new files from being added. */
  async #restore(): Promise<void> {
    await this.#store.prune(this.settings.keepMs).catch(() => undefined);
    await this.#intake
      .restore(this.#connections.current)
      .catch((error: unknown) => globalThis.reportError?.(error));
  }

  readonly #report = (change: Change): void => {
    this.#keeper.apply(change);
    const frozen = Object.freeze({ name: change.name, detail: Object.freeze(change.detail) }) as Change;
    this.#changeListeners.tell(frozen);
    this.#listeners.tellSoon();
  };

  readonly #onAuth = (connection: Connection): void => {
    if (connection === this.#connections.current) this.#keeper.setAuth(connection.auth.snapshot);
    this.#runs.turns.onAuth(connection);
    this.#listeners.tellSoon();
  };

  #closeUnused(connection: Connection): void {
    const isUsed = this.#runs.all.some((row) => row.connection === connection);
    if (connection !== this.#connections.current && !isUsed) this.#connections.close(connection);
  }
}

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

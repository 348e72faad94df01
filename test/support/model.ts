// Tabs with real engines, a real store, locks and workers. Scripted services may reject any call, and the page may be
// offline. The bytes of some files may not arrive, a storage may be silent, sessions and responses to commits may be lost, and the
// network may change at any time. Every second simulation signs in with tokens of the page. Checks the invariants of every
// sequence of commands; model-commands.ts has the commands.

import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { FileSnapshot } from '../../src/core/types.ts';
import { SavedUploads, type UploadStore } from '../../src/engine/resume/upload-store.ts';
import { fileOf } from './bytes.ts';
import { jumpClock } from './clock.ts';
import { quietFor, rest, settled } from './collect.ts';
import { HTTP_PATHS, serveModel } from './model-http.ts';
import { ModelService } from './model-service.ts';
import { FILES, isOnSecondStorage, Tab } from './model-tab.ts';
import { ScriptedService } from './scripted-service.ts';
import { SlowDrive } from './slow-worker.ts';
import { ENGINE_SETTINGS } from './world.ts';

export const CHUNK_SIZES = [1000, 2000, 100_000];
/** Smallest size of chunks. After a 413, chunks are halved until then. */
const MIN_CHUNK_BYTES = 400;
/** Sizes of the new files that have to end without help. */
const NEW_SIZES = [700, 6000];
/** Sizes of the files before them whose bytes do not arrive. */
const AWAY_SIZES = [700, 700, 700, 700, 700, 2500];
/** Most PUTs for each new file. Changes of the network cut four for each chunk size, and those of other simulations some more. */
const MOST_PUTS = 200;
/** A simulation counts as stuck if nothing changes for this time, in milliseconds, while all faults are off. */
const STUCK_MS = 15_000;

/** Returns a random number generator for numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const describe = ({ name, phase, pauseReason, error }: FileSnapshot): string =>
  `${name} ${phase} ${pauseReason ?? error?.code ?? ''}`;

/** Simulations that are offline. The simulations of a page share its network, so that one of them takes all of them offline. */
const offlineWorlds = new Set<World>();
Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => offlineWorlds.size === 0 });

const defects: string[] = [];
globalThis.addEventListener('unhandledrejection', (event) => {
  defects.push(`unhandled rejection: ${String(event.reason?.stack ?? event.reason)}`);
});
globalThis.addEventListener('error', (event) => {
  defects.push(`uncaught error: ${event.message} ${String(event.error?.stack ?? '')}`);
});

/** Tabs of one origin that share a store and a service. */
export class World {
  readonly store: UploadStore;
  readonly service: ModelService;
  readonly drive = new SlowDrive();
  /** Files that were completed, with the hashes of their chunks. */
  readonly completed: { readonly relativePath: string; readonly hashes: readonly string[] }[] = [];
  /** Paths of uploads that were canceled. */
  readonly canceled = new Set<string>();
  /** Files that are added only once. */
  readonly #newFiles = new Map<string, File>();
  readonly tabs: Tab[] = [];
  readonly random: () => number;
  /** In every second simulation, calls need a token of the page. */
  readonly auth: 'none' | 'token';
  /** In two of five simulations, the real client sends the calls, and small files share their requests. */
  readonly #hasBatches: boolean;
  readonly #owner: string;
  readonly #id = crypto.randomUUID();
  readonly #faults: string[] = [];
  /** Commands that have not resolved yet, and the step that started each of them. */
  readonly #pending = new Map<Promise<unknown>, string>();
  #step = '';
  readonly #undo: (() => void)[] = [];
  readonly #endService: () => void;
  faultRate = 0;
  changeCount = 0;
  /** False if the page has no token. */
  isSignedIn = true;
  /** Rounds that a token and a read of a file take. */
  tokenRounds = 0;
  readRounds = 0;

  constructor(seed: number, store: UploadStore) {
    this.random = randomOf(seed);
    this.auth = seed % 2 === 0 ? 'none' : 'token';
    this.#hasBatches = seed % 5 < 2;
    this.#owner = seed % 3 === 0 ? '' : 'ann';
    this.store = store;
    this.service = new ModelService(this.random, isOnSecondStorage, () => this.changeNetwork());
    const tickets = Object.assign(new ScriptedService(), { stored: this.service.stored });
    this.#endService = serveModel(`${this.#id}.test`, this, (hashes) => tickets.tickets(hashes));
    this.open();
  }

  get input(): SettingsInput {
    return {
      ...ENGINE_SETTINGS,
      baseUrl: `https://${this.#id}.test`,
      ...(this.#hasBatches && HTTP_PATHS),
      auth: this.auth,
      // Most simulations start with an owner, so that one change of the owner is enough to leave uploads behind.
      owner: this.#owner,
      // Sign-in has pauses between its attempts. Shorter pauses let a simulation end sooner.
      authOptions: { times: { renewalGapMs: 1, coolBaseMs: 1, coolMaxMs: 10 } },
      profile: { minChunkSize: MIN_CHUNK_BYTES },
      ...this.drive.worker,
    };
  }

  /** Opens a tab, or adds an uploader to a `page`. */
  open(page?: Tab['page']): void {
    this.tabs.push(new Tab(this, this.input, page));
  }

  fault(what: string): void {
    this.#faults.push(what);
  }

  /** Performs one step; `text` describes the step in errors. */
  async take(text: string, step: (world: World) => unknown): Promise<void> {
    this.#step = text;
    await step(this);
  }

  /** Adds a running command without waiting for it, so that the next command may start meanwhile. */
  give(command: Promise<unknown>): void {
    const pending = command
      .catch((error) => this.fault(`a command rejected: ${error?.stack ?? error}`))
      .finally(() => this.#pending.delete(pending));
    this.#pending.set(pending, this.#step);
  }

  jump(ms: number): void {
    this.#undo.push(jumpClock(ms));
  }

  /** Reports a change of the network, as browsers do at times. */
  changeNetwork(): void {
    const names = ['online', 'offline'];
    dispatchEvent(new Event(names[Math.floor(this.random() * names.length)] ?? 'online'));
  }

  /** Adds files that are added only once: to the drive, to the second storage, or to neither. */
  addNew(tab: Tab, kind: 'drive' | 'second' | 'plain', sizes: readonly number[]): readonly string[] {
    const files = sizes.map((size) => {
      const number = this.#newFiles.size;
      const file = fileOf(100 + number, size, `${kind}-${number}.bin`);
      this.#newFiles.set(file.name, file);
      return file;
    });
    this.give(tab.addFiles(files));
    return files.map(({ name }) => name);
  }

  /** Takes the page offline, or back online. */
  setOffline(isOffline: boolean): void {
    const wasOnline = navigator.onLine;
    if (isOffline) offlineWorlds.add(this);
    else offlineWorlds.delete(this);
    if (navigator.onLine !== wasOnline) dispatchEvent(new Event(wasOnline ? 'offline' : 'online'));
  }

  async reload(at: number): Promise<void> {
    const tab = this.tabs[at];
    if (!tab) return;
    // Does not wait until the engine is closed, because a closing page does not wait either.
    this.give(tab.uploader.close());
    this.tabs[at] = new Tab(this, tab.input, tab.page);
  }

  /**
   * Ends the faults of single requests, and asserts that new files end without help while the drive, the storages and the network
   * stay as they are. Then ends that, too, gives every upload what it waits for, and asserts that all uploads end correctly.
   */
  async finish(): Promise<void> {
    this.faultRate = 0;
    this.isSignedIn = true;
    this.tokenRounds = 0;
    this.readRounds = 0;
    this.setOffline(false);
    for (const tab of this.tabs) {
      tab.setTokens(true);
      tab.configure();
    }
    try {
      await this.#endWithoutHelp();
      this.#endWeather();
      // Suspended tabs must leave their uploads to other tabs, and not only after `restore()`.
      for (const { uploader } of this.tabs) this.give(uploader.suspend());
      await this.#resolved();
      await this.#released();
      for (const { uploader } of this.tabs) uploader.restore();
      await this.#resolved();
      await this.#drive('uploads are stuck');
      for (const tab of this.tabs) tab.checkOwner();
      for (const tab of this.tabs) {
        tab.configure({ concurrency: 2, chunkSize: 1000, keepFiles: false });
        this.addNew(tab, 'plain', [900, 900, 900]);
      }
      await this.#drive('slots are lost');
      await this.#checkFiles();
    } finally {
      for (const undo of this.#undo.reverse()) undo();
      await Promise.all(this.tabs.map(({ uploader }) => uploader.close()));
      this.#endService();
      this.drive.close();
    }
    await this.#released();
    const found = [...this.#faults, ...defects.splice(0)];
    if (found.length > 0) throw new Error(found.slice(0, 5).join('\n'));
  }

  /** New files end without a command, whatever other files wait for. */
  async #endWithoutHelp(): Promise<void> {
    const { service } = this;
    const names = this.tabs.flatMap((tab) => {
      tab.uploader.restore();
      tab.configure({ manual: false });
      if (this.drive.isAway) this.addNew(tab, 'drive', AWAY_SIZES);
      if (service.isSilent) this.addNew(tab, 'second', NEW_SIZES);
      return this.addNew(tab, 'plain', NEW_SIZES);
    });
    const isNew = (name: string): boolean => names.includes(name);
    service.isCut = isNew;
    // Each change repeats the PUTs to a silent storage, too, and these then keep their slots for two seconds.
    if (service.isSilent) service.cutCount = 0;
    else if (service.cutCount > 0) service.cutCount = Number.POSITIVE_INFINITY;
    const isStuck = this.#watch();
    const open = (): string[] => {
      const listed = this.tabs.flatMap(({ uploader }) => uploader.snapshot.files);
      return names.flatMap((name) => {
        const file = listed.find(({ relativePath }) => relativePath === name);
        if (!file) return [`${name} is not in the list`];
        return file.phase === 'done' || this.#mayFail(file) ? [] : [describe(file)];
      });
    };
    while (open().length > 0) {
      for (const { uploader } of this.tabs) {
        uploader.allowSignIn();
        if (uploader.snapshot.auth.required) uploader.signIn();
      }
      await rest(5);
      const putCount = names.reduce((sum, name) => sum + (service.putCounts.get(name) ?? 0), 0);
      const isEndless = putCount > MOST_PUTS * names.length;
      if (!isEndless && !isStuck()) continue;
      this.fault(`${isEndless ? 'endless PUTs' : 'do not end without help'}: ${open().join(', ')}`);
      return;
    }
  }

  /** Returns true for an upload whose commit had no response, and whose session is gone: only the user knows what to do. */
  #mayFail({ relativePath, error }: FileSnapshot): boolean {
    return error?.code === 'session-expired' && this.service.mayBeComplete(relativePath);
  }

  #endWeather(): void {
    this.drive.isAway = false;
    Object.assign(this.service, {
      isSilent: false,
      cutCount: 0,
      forgetfulCount: 0,
      sessionLifeChunks: Number.POSITIVE_INFINITY,
      commitAnswer: 'arrives',
    });
  }

  /** Checks that the service has all completed files, with the right bytes, and none twice. */
  async #checkFiles(): Promise<void> {
    const { service } = this;
    for (const { relativePath, hashes } of this.completed) {
      const file = this.#newFiles.get(relativePath) ?? FILES.find(({ name }) => name === relativePath);
      if (file && !(await service.isSame(hashes, file)))
        this.fault(`${relativePath} was completed with other bytes`);
    }
    for (const name of this.#newFiles.keys()) {
      const storedCount = service.files.filter(({ path }) => path === name).length;
      if (storedCount > 1 && !this.canceled.has(name)) this.fault(`${name} was stored ${storedCount} times`);
    }
  }

  /** Resumes and retries uploads and provides files, until every upload is done or canceled. */
  async #drive(stuck: string): Promise<void> {
    const isOver = (file: FileSnapshot): boolean =>
      file.phase === 'done' || file.phase === 'canceled' || this.#mayFail(file);
    const open = (): string[] =>
      this.tabs.flatMap(({ uploader }, at) =>
        uploader.snapshot.files.filter((file) => !isOver(file)).map((file) => `tab ${at}: ${describe(file)}`),
      );
    const isStuck = this.#watch();
    await settled();
    while (open().length > 0) {
      for (const tab of this.tabs) {
        const { uploader } = tab;
        uploader.allowSignIn();
        if (uploader.snapshot.auth.required) uploader.signIn();
        for (const snapshot of uploader.snapshot.files) {
          const { id, phase, pauseReason, relativePath } = snapshot;
          this.give(uploader.undo.undo(id));
          if (phase === 'failed' && !isOver(snapshot)) this.give(uploader.retry(id));
          if (pauseReason === 'user') this.give(uploader.resume(id));
          const file = FILES.find(({ name }) => name === relativePath) ?? this.#newFiles.get(relativePath);
          if (pauseReason === 'needs-file' && file) this.give(tab.provide(id, file));
        }
        // Files that were added with `manual` wait for `start()`, even if `manual` is off by now.
        this.give(uploader.start());
      }
      await rest(5);
      if (isStuck()) {
        this.fault(`${stuck}: ${open().join(', ')}`);
        return;
      }
    }
  }

  /** Returns a function that returns true if nothing has changed for `STUCK_MS`. */
  #watch(): () => boolean {
    return quietFor(STUCK_MS, () => (navigator.onLine ? this.changeCount : Number.NaN));
  }

  async #resolved(): Promise<void> {
    for (const isStuck = this.#watch(); this.#pending.size > 0; await rest(5)) {
      if (!isStuck()) continue;
      this.fault(`commands do not resolve: ${[...this.#pending.values()].join(', ')}`);
      return;
    }
  }

  async #released(): Promise<void> {
    const isStuck = this.#watch();
    for (;;) {
      const { held = [] } = await navigator.locks.query();
      const left = held.filter(({ name }) => name?.includes(this.#id));
      if (left.length === 0) return;
      if (isStuck()) {
        this.fault(`locks are held: ${left.map(({ name }) => name).join(', ')}`);
        return;
      }
      await rest(5);
    }
  }
}

/**
 * Returns a store for a series of simulations. Each simulation has its own service, so the records of simulations are separate.
 */
export const createModelStore = (): UploadStore => new SavedUploads({ name: `model-${crypto.randomUUID()}` });

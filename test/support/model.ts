// Tabs with real engines, a real store, locks and workers. Scripted services may reject any call, and the page may be
// offline. Every second simulation signs in with tokens of the page. Checks the invariants of every sequence of commands;
// model-commands.ts has the commands.

import type { SettingsInput } from '../../src/engine/uploader.ts';
import { createUploadStore, type UploadStore } from '../../src/store/uploads.ts';
import { fileOf, sha256 } from './bytes.ts';
import { jumpClock } from './clock.ts';
import { quietFor, settled } from './collect.ts';
import { ALL_SIZES, type Completed, FILES, MIN_CHUNK_BYTES, Tab } from './model-tab.ts';
import { ENGINE_SETTINGS } from './world.ts';

/** A simulation counts as stuck if nothing changes for this time, in milliseconds, while all faults are off. */
const STUCK_MS = 15_000;

/** Hashes of each file, for each chunk size. */
const hashes: Promise<ReadonlyMap<string, readonly string[]>> = (async () => {
  const found = new Map<string, readonly string[]>();
  for (const file of FILES) {
    const lists = [...ALL_SIZES].map(async (size) => {
      const starts = Array.from({ length: Math.ceil(file.size / size) }, (_, index) => index * size);
      return JSON.stringify(await Promise.all(starts.map((at) => sha256(file.slice(at, at + size)))));
    });
    found.set(file.name, await Promise.all(lists));
  }
  return found;
})();

/** Returns a random number generator for numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

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
  readonly stored = new Set<string>();
  readonly completed: Completed[] = [];
  readonly tabs: Tab[] = [];
  readonly random: () => number;
  /** In every second simulation, calls need a token of the page. */
  readonly auth: 'none' | 'token';
  readonly #owner: string;
  readonly #id = crypto.randomUUID();
  readonly #faults: string[] = [];
  /** Commands that have not resolved yet, and the step that started each of them. */
  readonly #pending = new Map<Promise<unknown>, string>();
  #step = '';
  readonly #undo: (() => void)[] = [];
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
    this.#owner = seed % 3 === 0 ? '' : 'ann';
    this.store = store;
    this.open();
  }

  get input(): SettingsInput {
    return {
      ...ENGINE_SETTINGS,
      baseUrl: `https://${this.#id}.test`,
      auth: this.auth,
      // Most simulations start with an owner, so that one change of the owner is enough to leave uploads behind.
      owner: this.#owner,
      // Sign-in has pauses between its attempts. Shorter pauses let a simulation end sooner.
      authOptions: { times: { renewalGapMs: 1, coolBaseMs: 1, coolMaxMs: 10 } },
      profile: { minChunkSize: MIN_CHUNK_BYTES },
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

  /** Ends all faults, gives every upload what it waits for, and asserts that all uploads end correctly. */
  async finish(): Promise<void> {
    this.faultRate = 0;
    this.isSignedIn = true;
    this.tokenRounds = 0;
    this.readRounds = 0;
    this.setOffline(false);
    for (const tab of this.tabs) {
      tab.setTokens(true);
      tab.uploader.configure(tab.input);
    }
    try {
      // Suspended tabs must leave their uploads to other tabs, and not only after `restore()`.
      for (const { uploader } of this.tabs) this.give(uploader.suspend());
      await this.#resolved();
      await this.#released();
      for (const { uploader } of this.tabs) uploader.restore();
      await this.#resolved();
      await this.#drive('uploads are stuck');
      for (const tab of this.tabs) tab.checkOwner();
      for (const tab of this.tabs) {
        tab.uploader.configure({ ...tab.input, concurrency: 2, chunkSize: 1000, keepFiles: false });
        this.give(
          tab.uploader.addFiles([0, 1, 2].map((index) => fileOf(index + 50, 900, `fresh-${index}.bin`))),
        );
      }
      await this.#drive('slots are lost');
      const known = await hashes;
      for (const { relativePath, chunks } of this.completed) {
        const expected = known.get(relativePath);
        const found = JSON.stringify(chunks.map(({ hash }) => hash));
        if (expected && !expected.includes(found))
          this.fault(`${relativePath} was completed with other bytes`);
        for (const { hash } of chunks)
          if (!this.stored.has(hash)) this.fault(`${relativePath} was completed without all of its bytes`);
      }
    } finally {
      for (const undo of this.#undo.reverse()) undo();
      await Promise.all(this.tabs.map(({ uploader }) => uploader.close()));
    }
    await this.#released();
    const found = [...this.#faults, ...defects.splice(0)];
    if (found.length > 0) throw new Error(found.slice(0, 5).join('\n'));
  }

  /** Resumes and retries uploads and provides files, until every upload is done or canceled. */
  async #drive(stuck: string): Promise<void> {
    const open = (): string[] =>
      this.tabs.flatMap(({ uploader }, at) =>
        uploader.snapshot.files
          .filter(({ phase }) => phase !== 'done' && phase !== 'canceled')
          .map(
            (file) => `tab ${at}: ${file.name} ${file.phase} ${file.pauseReason ?? file.error?.code ?? ''}`,
          ),
      );
    const isStuck = this.#watch();
    await settled();
    while (open().length > 0) {
      for (const { uploader } of this.tabs) {
        uploader.allowSignIn();
        if (uploader.snapshot.auth.required) uploader.signIn();
        for (const { id, phase, pauseReason, relativePath } of uploader.snapshot.files) {
          this.give(uploader.apply({ type: 'undo' }, [id]));
          if (phase === 'failed') this.give(uploader.retry(id));
          if (pauseReason === 'user') this.give(uploader.resume(id));
          const file = FILES.find(({ name }) => name === relativePath);
          if (pauseReason === 'needs-file' && file) this.give(uploader.provide(id, file));
        }
        // Files that were added with `manual` wait for `start()`, even if `manual` is off by now.
        this.give(uploader.start());
      }
      for (let round = 0; round < 5; round += 1) await settled();
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
    for (const isStuck = this.#watch(); this.#pending.size > 0; await settled()) {
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
      await settled();
    }
  }
}

/**
 * Returns a store for a series of simulations. Each simulation has its own service, so the records of simulations are separate.
 */
export const createModelStore = (): UploadStore =>
  createUploadStore({ name: `model-${crypto.randomUUID()}` });

// Small files that the page wants to be kept until they are done, also those that only wait for their turn. A page holds a lock
// for what it keeps: only what a page has left behind is taken over by another. It knows rows as places that files go to.

import type { Warn } from '../core/config.ts';
import { contentOf } from '../core/content.ts';
import { toUploaderError } from '../core/errors.ts';
import type { FileStore, KeptFile, KeptState } from '../store/files.ts';
import type { Connection } from './connection.ts';
import { createId } from './create-id.ts';
import { hold } from './tabs.ts';

/** Larger ones are asked for again after a reload, as all are without this. */
const MOST_FILE_BYTES = 4 * 2 ** 20;
/** All that is kept together. */
const MOST_BYTES = 64 * 2 ** 20;

/** So long a page that is going may hold its files. */
const GOING_MS = 5000;

/** What a row does with its kept file. */
export interface Kept {
  /** What is not named stays as it was. */
  save(state: KeptState): void;
  /** The row is done, or given up. */
  drop(): void;
  /** The row is no longer in the list, but may come back. */
  leave(): void;
}

export type LeftBehind = KeptFile & { readonly handle: Kept };

interface Entry {
  kept: KeptFile;
  readonly page: string;
  isWritten: boolean;
  isDropped: boolean;
}

export class KeptFiles {
  readonly #store: FileStore;
  readonly #warn: Warn;
  readonly #page = createId();
  /** Ids of files that have a row here. */
  readonly #listed = new Set<string>();
  /** What this page holds, its own and what others left behind; each with how to let it go. */
  readonly #held = new Map<string, Promise<(() => void) | undefined>>();
  #queue: Entry[] = [];
  #isWriting = false;
  #isResting = false;
  #wanted: Connection | undefined;

  constructor(store: FileStore, warn: Warn) {
    this.#store = store;
    this.#warn = warn;
  }

  /** Keeps a file, if it is small and the settings say so. */
  add(file: File, relativePath: string, parentId: string, { settings }: Connection): Kept | undefined {
    const { baseUrl, clientId, owner, keepFiles, noResume } = settings;
    if (!keepFiles || noResume || file.size > MOST_FILE_BYTES) return undefined;
    const kept = { id: createId(), file, relativePath, parentId, baseUrl, clientId, owner };
    const entry = { kept, page: this.#page, isWritten: false, isDropped: false };
    this.#queue.push(entry);
    if (!this.#isWriting) void this.#write();
    return this.#handle(entry);
  }

  /** Finds the files that pages which are gone have left behind for these settings, each once; a page may need a moment to go. */
  async restore(connection: Connection, onFound: (files: readonly LeftBehind[]) => void): Promise<void> {
    this.#wanted = connection;
    if (!connection.settings.keepFiles) return;
    for (const page of await this.#store.pages()) {
      this.#take(page, connection).then(onFound, (error: unknown) => this.#tell(error));
    }
  }

  async #take(page: string, connection: Connection): Promise<readonly LeftBehind[]> {
    const { baseUrl, clientId, owner } = connection.settings;
    const files = (await this.#hold(page)) ? await this.#store.list(page) : [];
    if (this.#wanted !== connection || this.#isResting) return [];
    const isOurs = (kept: KeptFile): boolean =>
      kept.baseUrl === baseUrl && kept.clientId === clientId && kept.owner === owner;
    return files
      .filter((kept) => isOurs(kept) && !this.#listed.has(kept.id))
      .map((kept) => ({ ...kept, handle: this.#handle({ kept, page, isWritten: true, isDropped: false }) }));
  }

  /** Whoever they were looked for is gone: what is found from now on is not theirs to see. */
  leave(): void {
    this.#wanted = undefined;
  }

  /** Others may take over what is kept here. */
  rest(): void {
    this.#isResting = true;
    for (const held of this.#held.values()) void held.then((release) => release?.());
    this.#held.clear();
  }

  wake(): void {
    this.#isResting = false;
    if (this.#listed.size > 0) void this.#hold(this.#page);
  }

  #handle(entry: Entry): Kept {
    const { page } = entry;
    const { id } = entry.kept;
    this.#listed.add(id);
    const tell = (error: unknown): void => this.#tell(error);
    return {
      save: (state) => {
        const before = entry.kept;
        entry.kept = { ...before, ...state };
        if (!entry.isWritten || entry.isDropped || contentOf(entry.kept) === contentOf(before)) return;
        this.#store.saveState(page, id, entry.kept).catch(tell);
      },
      drop: () => {
        if (entry.isDropped) return;
        entry.isDropped = true;
        this.#listed.delete(id);
        if (entry.isWritten) this.#store.remove(page, id).catch(tell);
      },
      leave: () => void this.#listed.delete(id),
    };
  }

  /** One after the other, so that only one lies in memory; whatever is done by its turn is left out. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#hold(this.#page);
      let sumBytes = await this.#store.sumBytes();
      for (let entry = this.#queue.shift(); entry; entry = this.#queue.shift()) {
        const { kept, page } = entry;
        sumBytes += kept.file.size;
        // Of what cannot be read its run will tell.
        const hasRoom = !entry.isDropped && sumBytes <= MOST_BYTES;
        const bytes = hasRoom ? await kept.file.arrayBuffer().catch(() => undefined) : undefined;
        if (!bytes) {
          sumBytes -= kept.file.size;
          continue;
        }
        await this.#store.keep(page, kept, bytes);
        entry.isWritten = true;
        const { session, newName, isPaused } = entry.kept;
        if (entry.isDropped) await this.#store.remove(page, kept.id);
        else if (session || newName || isPaused) await this.#store.saveState(page, kept.id, entry.kept);
      }
    } catch (error) {
      this.#queue = [];
      this.#tell(error);
    } finally {
      this.#isWriting = false;
    }
  }

  /** Keeping is a comfort: an upload goes on without it. */
  #tell(error: unknown): void {
    const { code } = toUploaderError(error, 'store-unavailable', 'A file could not be kept');
    this.#warn(`keep-files: files are not kept any more (${code}).`);
  }

  /** False where another page is there that holds it, or this one is going itself. */
  async #hold(page: string): Promise<boolean> {
    if (this.#isResting) return false;
    if (!globalThis.navigator?.locks) return true;
    const held =
      this.#held.get(page) ??
      hold(`files ${page}`, { signal: AbortSignal.timeout(GOING_MS) }).catch(() => undefined);
    this.#held.set(page, held);
    const isHeld = (await held) !== undefined;
    if (!isHeld) this.#held.delete(page);
    return isHeld;
  }
}

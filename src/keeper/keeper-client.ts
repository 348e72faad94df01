// The page's side of the file keeper: hands over the files of unfinished uploads when the page is left, and asks for the files that
// an earlier page handed over. Loaded only if `keeper-url` is set.

import type { Change } from '../core/changes.ts';
import type { Warn } from '../core/config.ts';
import type { Phase } from '../core/phases.ts';
import type { FileId, PickedFile, UploadRecord } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import {
  type Added,
  type Ask,
  filesFor,
  type KeeperRequest,
  type Kept,
  keyOfNew,
  readAsk,
  readFiles,
} from './keeper-messages.ts';

/** Longest wait for the worker, in milliseconds. A worker that was stopped takes up to two seconds to start. */
const ANSWER_MS = 3000;
/** Wait for other tabs, in milliseconds. If there is no other tab, there is no response. */
const TABS_MS = 200;
const CHANNEL = 'secure-uploader:files';

/** What the keeper reads of an upload. */
export interface KeptUpload {
  readonly id: FileId;
  readonly name: string;
  readonly relativePath: string;
  readonly parentId: string;
  readonly phase: Phase;
  readonly state: { readonly phase: string; readonly reason?: string };
  readonly picked: PickedFile | undefined;
  readonly resumeState: { readonly record: UploadRecord | undefined };
  readonly connection: {
    readonly settings: {
      readonly baseUrl: string;
      readonly clientId: string;
      readonly owner: string;
      readonly noResume: boolean;
    };
  };
  dispatch(command: { type: 'leave' }): void;
}

export interface KeeperParts {
  readonly uploads: () => readonly KeptUpload[];
  readonly onChange: (listener: (change: Change) => void) => () => void;
  /** Called when the page comes back from the back/forward cache. */
  readonly onReturn: () => void;
  readonly warn: Warn;
  /** Converts the URL of a script for pages with Trusted Types. */
  readonly trusted: (url: string) => string;
}

export class KeeperClient {
  readonly #parts: KeeperParts;
  /** URL and scope of the worker; `undefined` if this page cannot use it. */
  #url: string | undefined;
  #registration: ServiceWorkerRegistration | undefined;
  #isRegistered = false;
  /** Received files that no upload has accepted yet. */
  readonly #received = new Set<Kept>();
  #channel: BroadcastChannel | undefined;
  readonly #closing = new AbortController();

  constructor(keeperUrl: string, parts: KeeperParts) {
    this.#parts = parts;
    // A frame may be part of another site's page.
    if (globalThis.top !== globalThis.self) return;
    try {
      this.#url = readUrl(keeperUrl);
      this.#channel = new BroadcastChannel(CHANNEL);
    } catch (error) {
      this.#fail(error);
      return;
    }
    const { signal } = this.#closing;
    const unsubscribe = parts.onChange(({ name }) => {
      if (name === 'file-added') void this.#register();
    });
    signal.addEventListener('abort', unsubscribe);
    globalThis.addEventListener('pagehide', ({ persisted }) => this.#handOver(persisted), { signal });
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) parts.onReturn();
    };
    globalThis.addEventListener('pageshow', onShow, { signal });
    this.#channel.addEventListener('message', ({ data }) => this.#onAsked(data));
    if (parts.uploads().length > 0) void this.#register();
  }

  /**
   * Asks the worker for the files of uploads, and for uploads without a record (`clientId`). Then asks other tabs for the files
   * that are still missing. Calls `use` with each file. Resolves when the promises of `use` have resolved. Until then, the file is
   * handed over if this page is left.
   */
  async ask(request: Ask, clientId: string, use: (found: Kept) => Promise<void>): Promise<void> {
    const uses: Promise<void>[] = [];
    const take = async (found: readonly Kept[]): Promise<void> => {
      for (const kept of found) this.#received.add(kept);
      await inSlices(found, (kept) => {
        uses.push(use(kept).finally(() => this.#received.delete(kept)));
      });
    };
    if (!this.#url) return;
    const wanted = { ...request, keys: [...request.keys, keyOfNew(clientId)] };
    const found = filesFor(wanted, await this.#askWorker(wanted).catch(() => []));
    const foundKeys = new Set(found.map(({ key }) => key));
    await take(found);
    const left = { ...request, keys: request.keys.filter((key) => !foundKeys.has(key)) };
    if (left.keys.length > 0) await take(filesFor(left, await this.#askTabs(left).catch(() => [])));
    await Promise.all(uses);
  }

  /** Forgets files that no upload has accepted yet. */
  forget(): void {
    this.#received.clear();
  }

  close(): void {
    this.#closing.abort();
    this.#channel?.close();
  }

  /** Registers the worker, also if it unregisters itself because another page without unfinished uploads was left. */
  async #register(): Promise<void> {
    const url = this.#url;
    if (!url || this.#isRegistered || this.#closing.signal.aborted) return;
    this.#isRegistered = true;
    try {
      this.#registration = await navigator.serviceWorker.register(this.#parts.trusted(url), { scope: url });
      const { active, waiting, installing } = this.#registration;
      const worker = active ?? waiting ?? installing;
      let wasActive = worker === active;
      worker?.addEventListener('statechange', () => {
        if (worker.state === 'activated') wasActive = true;
        if (worker.state !== 'redundant' || !wasActive) return;
        this.#isRegistered = false;
        void this.#register();
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #askWorker = async (ask: Ask): Promise<readonly Kept[]> => {
    const worker = this.#url && (await findWorker(this.#url));
    if (!worker) return [];
    const { port1, port2 } = new MessageChannel();
    return answerOf(port1, ANSWER_MS, () => worker.postMessage({ ask } satisfies KeeperRequest, [port2]));
  };

  readonly #askTabs = async (ask: Ask): Promise<readonly Kept[]> => {
    const answerTo = `${CHANNEL}:${crypto.randomUUID()}`;
    const answers = new BroadcastChannel(answerTo);
    return answerOf(answers, TABS_MS, () => this.#channel?.postMessage({ ask, answerTo }));
  };

  /** Sends files to another tab that asks for them. */
  #onAsked(data: { readonly ask?: unknown; readonly answerTo?: unknown } | null): void {
    const ask = readAsk(data?.ask);
    const found = ask ? filesFor(ask, this.#unfinished()).filter(({ added }) => !added) : [];
    if (found.length === 0) return;
    const answers = new BroadcastChannel(String(data?.answerTo));
    answers.postMessage(found);
    answers.close();
  }

  /**
   * Sends the files of all unfinished uploads to the worker. Without such uploads, the worker unregisters itself. In a page that
   * goes to the back/forward cache, the uploads without a record leave the list, since no lock keeps two pages from running them.
   */
  #handOver(isCached: boolean): void {
    const worker = this.#registration?.active;
    const files = this.#unfinished();
    worker?.postMessage({ files } satisfies KeeperRequest);
    const newIds = new Set(files.map(({ added }) => added?.id));
    if (!worker || !isCached) return;
    for (const upload of [...this.#parts.uploads()])
      if (newIds.has(upload.id)) upload.dispatch({ type: 'leave' });
  }

  #unfinished(): readonly Kept[] {
    const own = this.#parts.uploads().flatMap((upload): Kept[] => {
      const { phase, state, picked, connection } = upload;
      const { record } = upload.resumeState;
      const { baseUrl: service, owner, clientId, noResume } = connection.settings;
      if (!picked || phase === 'done' || phase === 'canceled' || state.phase === 'withdrawn') return [];
      if (!record && noResume) return [];
      const kept = { file: picked.file, isPaused: state.reason === 'user', service, owner };
      return [
        record ? { ...kept, key: record.key } : { ...kept, key: keyOfNew(clientId), added: addedOf(upload) },
      ];
    });
    return [...own, ...this.#received];
  }

  #fail(error: unknown): void {
    this.#url = undefined;
    this.#parts.warn(
      `keeper-url: ${error}. After a reload, users have to choose unfinished files again. ` +
        'Copy secure-uploader/file-keeper.js to your site and set keeper-url to its URL.',
    );
  }
}

const addedOf = ({ id, name, relativePath, parentId, picked, state }: KeptUpload): Added => ({
  id,
  name,
  relativePath,
  parentId,
  metadata: picked?.metadata,
  handle: picked?.handle,
  isHeld: state.phase === 'held',
});

/** Returns the worker that an earlier page has registered, if there is one. */
async function findWorker(url: string): Promise<ServiceWorker | null | undefined> {
  const found = await navigator.serviceWorker.getRegistration(url);
  // Without a registration of its own, the URL may be in the scope of another worker of the site.
  return found?.scope === url ? found?.active : undefined;
}

/** Drops all files that the worker keeps. Also works without a `KeeperClient`. Never rejects. */
export async function dropKept(keeperUrl: string): Promise<void> {
  try {
    const worker = await findWorker(readUrl(keeperUrl));
    worker?.postMessage({ drop: true } satisfies KeeperRequest);
  } catch {
    // Without a worker, nothing is kept.
  }
}

/** Returns the absolute URL. Throws if the URL is invalid or has another origin, or if the page cannot use service workers. */
function readUrl(keeperUrl: string): string {
  const url = new URL(keeperUrl, document.baseURI);
  url.hash = '';
  if (url.origin !== location.origin) throw new TypeError('not on the origin of the page');
  if (!navigator.serviceWorker) throw new TypeError('no service workers on this page');
  return url.href;
}

/** Calls `ask`. Resolves with the files of the first message to `port`. Rejects if there is no message within `ms`. */
function answerOf(
  port: MessagePort | BroadcastChannel,
  ms: number,
  ask: () => void,
): Promise<readonly Kept[]> {
  return new Promise<readonly Kept[]>((resolve, reject) => {
    setTimeout(reject, ms);
    port.onmessage = ({ data }: MessageEvent<unknown>) => resolve(readFiles(data));
    ask();
  }).finally(() => port.close());
}

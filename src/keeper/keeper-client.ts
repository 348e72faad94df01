// The page's side of the file keeper: hands over the files of unfinished uploads when the page is left, and asks for the files that
// an earlier page handed over. Loaded only if `keeper-url` is set.

import type { Change } from '../core/changes.ts';
import type { Warn } from '../core/config.ts';
import type { Phase } from '../core/phases.ts';
import type { UploadRecord } from '../core/types.ts';
import { type Ask, filesFor, type KeeperRequest, type Kept, readAsk, readFiles } from './keeper-messages.ts';

/** Longest wait for the worker, in milliseconds. A worker that was stopped takes up to two seconds to start. */
const ANSWER_MS = 3000;
/** Wait for other tabs, in milliseconds. If there is no other tab, there is no response. */
const TABS_MS = 200;
const CHANNEL = 'secure-uploader:files';

/** What the keeper reads of an upload. */
export interface KeptUpload {
  readonly phase: Phase;
  readonly state: { readonly phase: string; readonly reason?: string };
  readonly picked: { readonly file: File } | undefined;
  readonly resumeState: { readonly record: UploadRecord | undefined };
  readonly connection: { readonly settings: { readonly baseUrl: string; readonly owner: string } };
}

export interface KeeperParts {
  readonly uploads: () => readonly KeptUpload[];
  readonly onChange: (listener: (change: Change) => void) => () => void;
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
    globalThis.addEventListener('pagehide', () => this.#handOver(), { signal });
    this.#channel.addEventListener('message', ({ data }) => this.#onAsked(data));
    if (parts.uploads().length > 0) void this.#register();
  }

  /**
   * Asks the worker for the files of uploads, then other tabs for the files that are still missing. Calls `use` with each file.
   * Resolves when the promises of `use` have resolved. Until then, the file is handed over if this page is left.
   */
  async ask(request: Ask, use: (found: Kept) => Promise<void>): Promise<void> {
    const uses: Promise<void>[] = [];
    let { keys } = request;
    for (const ask of [this.#askWorker, this.#askTabs]) {
      if (!this.#url || keys.length === 0) break;
      const left = { ...request, keys };
      const found = filesFor(left, await ask(left).catch(() => []));
      keys = keys.filter((key) => !found.some((kept) => kept.key === key));
      for (const kept of found) {
        this.#received.add(kept);
        uses.push(use(kept).finally(() => this.#received.delete(kept)));
      }
    }
    await Promise.all(uses);
  }

  /** Drops all files that the worker keeps. Never rejects. */
  async drop(): Promise<void> {
    this.#received.clear();
    const worker = await this.#findWorker().catch(() => undefined);
    worker?.postMessage({ drop: true } satisfies KeeperRequest);
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

  /** Returns the worker that an earlier page has registered, if there is one. */
  async #findWorker(): Promise<ServiceWorker | null | undefined> {
    const found = this.#url ? await navigator.serviceWorker.getRegistration(this.#url) : undefined;
    // Without a registration of its own, the URL may be in the scope of another worker of the site.
    return found?.scope === this.#url ? found?.active : undefined;
  }

  readonly #askWorker = async (ask: Ask): Promise<readonly Kept[]> => {
    const worker = await this.#findWorker();
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
    const found = ask ? filesFor(ask, this.#unfinished()) : [];
    if (found.length === 0) return;
    const answers = new BroadcastChannel(String(data?.answerTo));
    answers.postMessage(found);
    answers.close();
  }

  /** Sends the files of all unfinished uploads to the worker. Without such uploads, the worker unregisters itself. */
  #handOver(): void {
    this.#registration?.active?.postMessage({ files: this.#unfinished() } satisfies KeeperRequest);
  }

  #unfinished(): readonly Kept[] {
    const own = this.#parts.uploads().flatMap(({ phase, state, picked, resumeState, connection }): Kept[] => {
      const { record } = resumeState;
      if (!picked || !record || phase === 'done' || phase === 'canceled') return [];
      const { baseUrl: service, owner } = connection.settings;
      return [{ key: record.key, file: picked.file, isPaused: state.reason === 'user', service, owner }];
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

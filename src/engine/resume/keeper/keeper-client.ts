// The page's side of the file keeper: hands over the files of unfinished uploads when the page is left, and asks for the files that
// an earlier page handed over. Loaded only if `keeper-url` is set.

import type { Change } from '../../../core/changes.ts';
import { trustUrl } from '../../../core/trusted.ts';
import { inSlices } from '../../../core/wait.ts';
import type { Warn } from '../../../core/warn.ts';
import { keyOfNew, workerOf } from './drop-kept.ts';
import {
  type Ask,
  addedOf,
  filesFor,
  type KeeperRequest,
  type Kept,
  type KeptUpload,
  readAsk,
  readFiles,
} from './keeper-messages.ts';

/**
 * Time until files are looked for elsewhere, in milliseconds. A worker that was stopped takes up to two seconds to start, on a busy
 * machine longer.
 */
const ANSWER_MS = 3000;
/** Wait for other tabs, which may be busy, in milliseconds. If no other tab has the files, there is no response. */
const TABS_MS = 1000;
const CHANNEL = 'secure-uploader:files';
const NO_REQUEST = 'none';

/**
 * Id of this document. The first uploader that asks the worker receives the files of all uploaders of the page; the id tells them
 * from files of other pages.
 */
const DOCUMENT = `${performance.timeOrigin} ${Math.random()}`;

export interface KeeperParts {
  readonly uploads: () => readonly KeptUpload[];
  /** True if the user of the uploads has signed out, in another tab. */
  readonly isSignedOut: () => boolean;
  readonly onChange: (listener: (change: Change) => void) => () => void;
  readonly warn: Warn;
}

export class KeeperClient {
  readonly #parts: KeeperParts;
  /** URL and scope of the worker; `undefined` if this page cannot use it. */
  #url: string | undefined;
  #registration: ServiceWorkerRegistration | undefined;
  #isRegistered = false;
  /** Ports of requests to the worker that have no answer yet, by id. */
  readonly #unanswered = new Map<string, MessagePort>();
  /** Received files that no upload has accepted yet. */
  readonly #received = new Set<Kept>();
  /** Uploads without a record that this uploader handed over when the page went to the back/forward cache. */
  #handedOver: readonly KeptUpload[] = [];
  /** Ids of these uploads whose files another page has got. */
  #takenIds = new Set<string>();
  #channel: BroadcastChannel | undefined;
  /** Controller that is aborted when the page goes to the back/forward cache. */
  #shown = new AbortController();
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
      if (!persisted) return;
      this.#isRegistered = false;
      this.#shown = new AbortController();
      if (parts.uploads().length > 0) void this.#register();
    };
    globalThis.addEventListener('pageshow', onShow, { signal });
    this.#channel.addEventListener('message', ({ data }) => this.#onAsked(data));
    if (parts.uploads().length > 0) void this.#register();
  }

  /**
   * Asks the worker for the files of uploads, and for uploads without a record (`newKeys`). Then asks other tabs for the files that
   * are still missing. Calls `use` with each file. Resolves when the promises of `use` have resolved. Until then, the file is
   * handed over if this page is left.
   */
  async ask(
    request: Omit<Ask, 'document'>,
    newKeys: readonly string[],
    use: (kept: Kept) => Promise<void>,
  ): Promise<void> {
    const uses: Promise<void>[] = [];
    const take = async (files: readonly Kept[]): Promise<void> => {
      for (const keptFile of files) this.#received.add(keptFile);
      await inSlices(files, (keptFile) => {
        uses.push(use(keptFile).finally(() => this.#received.delete(keptFile)));
      });
    };
    if (!this.#url) {
      this.#keepOwn([]);
      return;
    }
    const question = { ...request, document: DOCUMENT, keys: [...request.keys, ...newKeys] };
    const missingKeys = new Set(request.keys);
    // For files that the worker does not return, other tabs are asked, and then the user.
    await this.#askWorker(question, async (received) => {
      const files = this.#keepOwn(filesFor(question, received));
      for (const { key } of files) missingKeys.delete(key);
      await take(files);
    }).catch(() => undefined);
    this.#keepOwn([]);
    // The channel throws after `close()`, when no file is needed any more.
    if (missingKeys.size > 0)
      await take(await this.#askTabs({ ...question, keys: [...missingKeys] }).catch(() => []));
    await Promise.all(uses);
  }

  /**
   * Continues the uploads that this uploader handed over, and removes those whose files another page has received. Returns the
   * files of other pages.
   */
  #keepOwn(files: readonly Kept[]): readonly Kept[] {
    for (const upload of this.#handedOver)
      upload.dispatch({ type: this.#takenIds.has(upload.id) ? 'leave' : 'restore' });
    this.#handedOver = [];
    return files.filter(({ added }) => added?.document !== DOCUMENT);
  }

  /** Forgets files that no upload has accepted yet. */
  forget(): void {
    this.#received.clear();
  }

  /** Ends all requests. Files of answers that have not arrived stay with the worker. */
  close(): void {
    this.#closing.abort();
    this.#channel?.close();
    const unanswered = this.#endRequests();
    if (unanswered.length > 0)
      workerOf(this.#registration)?.postMessage({ files: [], unanswered } satisfies KeeperRequest);
  }

  /** Ignores answers of the worker that arrive later. Returns the ids of these requests. */
  #endRequests(): readonly string[] {
    const ids = [...this.#unanswered.keys()];
    for (const port of this.#unanswered.values()) port.close();
    this.#unanswered.clear();
    return ids;
  }

  /** Registers the worker, also if it unregisters itself because another page without unfinished uploads was left. */
  async #register(): Promise<void> {
    const url = this.#url;
    if (!url || this.#isRegistered || this.#closing.signal.aborted) return;
    this.#isRegistered = true;
    try {
      this.#registration = await navigator.serviceWorker.register(trustUrl(url), { scope: url });
      const worker = workerOf(this.#registration);
      // A worker without files would unregister itself a second after another page was left. This request stops its timer.
      worker?.postMessage({ got: NO_REQUEST } satisfies KeeperRequest);
      let wasActive = worker === this.#registration.active;
      const onChange = (): void => {
        if (worker?.state === 'activated') wasActive = true;
        if (worker?.state !== 'redundant' || !wasActive) return;
        this.#isRegistered = false;
        void this.#register();
      };
      // Chromium removes a page from the back/forward cache if a listener is called there.
      worker?.addEventListener('statechange', onChange, { signal: this.#shown.signal });
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Calls `use` with the answer of the worker. Resolves when `use` has resolved, or when the wait is over. An answer that arrives
   * later is used too, because the worker returns each file once.
   */
  async #askWorker(ask: Ask, use: (received: readonly Kept[]) => Promise<void>): Promise<void> {
    const registration = await navigator.serviceWorker.getRegistration(this.#url);
    // Without a registration of its own, the URL may be in the scope of another worker of the site.
    if (!registration || registration.scope !== this.#url || this.#closing.signal.aborted) return;
    // A page without uploads lets the worker unregister itself when the page is left.
    this.#registration ??= registration;
    const worker = workerOf(registration);
    const { port1, port2 } = new MessageChannel();
    const id = crypto.randomUUID();
    this.#unanswered.set(id, port1);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ANSWER_MS);
      port1.onmessage = ({ data }: MessageEvent<unknown>) => {
        clearTimeout(timer);
        this.#unanswered.delete(id);
        worker?.postMessage({ got: id } satisfies KeeperRequest);
        void use(readFiles(data)).finally(resolve);
      };
      worker?.postMessage({ ask, id } satisfies KeeperRequest, [port2]);
    });
  }

  /** Several tabs may have some of the files. */
  #askTabs(ask: Ask): Promise<readonly Kept[]> {
    const answerTo = `${CHANNEL}:${crypto.randomUUID()}`;
    const answers = new BroadcastChannel(answerTo);
    const received: Kept[] = [];
    return new Promise<readonly Kept[]>((resolve) => {
      setTimeout(resolve, TABS_MS, received);
      answers.onmessage = ({ data }: MessageEvent<unknown>) => {
        received.push(...filesFor(ask, readFiles(data)));
        if (new Set(received.map(({ key }) => key)).size === ask.keys.length) resolve(received);
      };
      this.#channel?.postMessage({ ask, answerTo });
    }).finally(() => answers.close());
  }

  /** Sends files to another tab that asks for them. */
  #onAsked(data: { readonly ask?: unknown; readonly answerTo?: unknown } | null): void {
    const ask = readAsk(data?.ask);
    const files = ask ? filesFor(ask, this.#unfinished()).filter(({ added }) => !added) : [];
    if (files.length === 0) return;
    const answers = new BroadcastChannel(String(data?.answerTo));
    answers.postMessage(files);
    answers.close();
  }

  /**
   * Sends the files of all unfinished uploads to the worker. Without such uploads, the worker unregisters itself. In a page that
   * goes to the back/forward cache, the uploads without a record stop until the page comes back, since no lock keeps two pages from
   * running them.
   */
  #handOver(isCached: boolean): void {
    const worker = workerOf(this.#registration);
    if (!worker) return;
    const files = this.#unfinished(isCached ? DOCUMENT : '');
    const { port1, port2 } = new MessageChannel();
    // The next page may have got the files of an answer that arrives when this page comes back.
    const unanswered = this.#endRequests();
    worker.postMessage({ files, unanswered } satisfies KeeperRequest, [port2]);
    if (!isCached) return;
    this.#shown.abort();
    // A late message must not count for the next hand-over.
    const takenIds = new Set<string>();
    port1.onmessage = ({ data }: MessageEvent<string>) => takenIds.add(data);
    this.#takenIds = takenIds;
    const newIds = new Set(files.map(({ added }) => added?.id));
    this.#handedOver = this.#parts.uploads().filter(({ id }) => newIds.has(id));
    for (const upload of this.#handedOver) upload.dispatch({ type: 'suspend' });
  }

  /** Returns the files for the worker. `document` is the id of this document if it goes to the back/forward cache, otherwise ''. */
  #unfinished(document = ''): readonly Kept[] {
    if (this.#parts.isSignedOut()) return [];
    const unfinished = this.#parts.uploads().flatMap((upload): Kept[] => {
      const { phase, state, picked, connection } = upload;
      const { record } = upload.resumeState;
      const { baseUrl: service, owner, clientId, noResume } = connection.settings;
      if (!picked || phase === 'done' || phase === 'canceled' || state.phase === 'withdrawn') return [];
      const keptFile = { file: picked.file, isPaused: state.reason === 'user', service, owner };
      if (record) return [{ ...keptFile, key: record.key }];
      if (noResume || state.error?.retryable === false) return [];
      // Without progress, a failed upload would fail again with each page.
      const isPaused = keptFile.isPaused || phase === 'failed';
      return [{ ...keptFile, isPaused, key: keyOfNew(clientId), added: addedOf(upload, document) }];
    });
    const received = [...this.#received].map(({ added, ...kept }) => ({
      ...kept,
      added: added && { ...added, document: '' },
    }));
    return [...unfinished, ...received];
  }

  #fail(error: unknown): void {
    this.#url = undefined;
    const reason = String(error).replace(/\.*$/, '');
    this.#parts.warn(
      `keeper-url: ${reason}. After a reload, users have to choose unfinished files again. ` +
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

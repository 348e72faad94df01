// The script of the file keeper, a service worker that the site hosts (`keeper-url`, decision 0047). Keeps the files of unfinished
// uploads in memory while one page is left and the next page loads. Has no `fetch` handler, and no access to tokens or sessions.

import { filesFor, idOf, type KeeperRequest, type Kept, readAsk, readFiles } from './keeper-messages.ts';

/** The parts of `ServiceWorkerGlobalScope` that the keeper uses. The DOM types do not include this scope. */
interface Scope {
  readonly registration: { unregister(): Promise<boolean> };
  readonly location: Location;
  addEventListener(type: 'message', listener: (event: PageMessage) => void): void;
}

type PageMessage = MessageEvent<KeeperRequest | null> & {
  /** The page; `null` if the page is gone. */
  readonly source: { readonly frameType?: string } | null;
  waitUntil(promise: Promise<unknown>): void;
};

/** Time in which a page has to ask for the files, in milliseconds. Firefox ends the worker 56 s after its last message. */
const HOLD_MS = 50_000;
/** Time until a worker without files unregisters itself, in milliseconds. Another page that is being left may send files. */
const UNUSED_MS = 1000;

const scope = globalThis as unknown as Scope;
const keptFiles = new Map<string, Kept>();
/** Ports of the pages that handed over the files, by the same keys as `keptFiles`. */
const givers = new Map<string, MessagePort | undefined>();
/**
 * Files of answers that may not have arrived, by the id of the request. If the page was left before the answer, the files are kept
 * for the next page.
 */
const handedOut = new Map<string, readonly Kept[]>();
let untilMs = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let endHold: () => void = () => undefined;

/** Keeps the worker running for `ms`, then drops the files and unregisters the worker. Replaces an earlier call. */
function hold(event: PageMessage, ms: number): void {
  stopHolding();
  untilMs = Date.now() + ms;
  const lifetime = new Promise<void>((resolve) => {
    endHold = resolve;
  });
  timer = setTimeout(() => {
    clear();
    scope.registration.unregister().then(endHold, endHold);
  }, ms);
  event.waitUntil(lifetime);
}

function stopHolding(): void {
  clearTimeout(timer);
  endHold();
}

function stopIfEmpty(): void {
  if (keptFiles.size + handedOut.size === 0) stopHolding();
}

/** Drops files. Tells the pages that handed them over, which may be in the back/forward cache. */
function drop(files: Iterable<Kept>): void {
  for (const file of files) {
    const id = idOf(file);
    keptFiles.delete(id);
    givers.get(id)?.postMessage(id);
    givers.delete(id);
  }
}

function clear(): void {
  handedOut.clear();
  keptFiles.clear();
  givers.clear();
}

/** Drops the files that match, also those of answers that may not have arrived. */
function dropMatching(isDropped: (file: Kept) => boolean): void {
  drop([...keptFiles.values()].filter(isDropped));
  for (const [id, files] of handedOut) {
    drop(files.filter(isDropped));
    handedOut.set(
      id,
      files.filter((file) => !isDropped(file)),
    );
  }
}

/** Drops the files of other owners of the same service. */
const dropOthers = ({ service, owner }: Pick<Kept, 'service' | 'owner'>): void =>
  dropMatching((file) => file.service === service && file.owner !== owner);

/** Gives a page the files that it asks for. */
function giveFiles({ id, ask: request }: KeeperRequest, port: MessagePort | undefined): void {
  const ask = readAsk(request);
  if (!ask || !id) return;
  // Without an owner, the page may not have named its user yet (decision 0036).
  if (ask.owner !== '') dropOthers(ask);
  const files = filesFor(ask, keptFiles.values());
  for (const file of files) {
    keptFiles.delete(idOf(file));
    // The page gets its own files back, and needs no message.
    if (file.added?.document === ask.document) givers.delete(idOf(file));
  }
  handedOut.set(id, files);
  port?.postMessage(files);
  stopIfEmpty();
}

/** Drops the files of an answer that has arrived. */
function dropGiven(id: string): void {
  drop(handedOut.get(id) ?? []);
  handedOut.delete(id);
  stopIfEmpty();
}

/** Keeps files for the next page: those that a page hands over, and those of answers that did not reach it. */
function keepFiles({ files, unanswered }: KeeperRequest, giver: MessagePort | undefined): void {
  let lastKept: Kept | undefined;
  const keep = (file: Kept): void => {
    if (file.service !== lastKept?.service || file.owner !== lastKept.owner) dropOthers(file);
    lastKept = file;
    keptFiles.set(idOf(file), file);
  };
  for (const id of unanswered ?? []) {
    for (const file of handedOut.get(id) ?? []) keep(file);
    handedOut.delete(id);
  }
  for (const file of readFiles(files)) {
    keep(file);
    givers.set(idOf(file), giver);
  }
}

scope.addEventListener('message', (event) => {
  const { data, origin, ports, source } = event;
  if (!data || origin !== scope.location.origin) return;
  // A user may sign out in a frame, too.
  if (source && data.drop) {
    dropMatching(() => true);
    handedOut.clear();
    hold(event, UNUSED_MS);
    return;
  }
  // Frames are not served, because they may be part of another site's page.
  const isPage = source?.frameType === 'top-level' || source?.frameType === 'auxiliary';
  if (!isPage) return;
  // Timers stop while a device sleeps.
  if (Date.now() > untilMs) clear();
  if (data.ask) giveFiles(data, ports[0]);
  else if (data.got) dropGiven(data.got);
  else if (Array.isArray(data.files)) {
    keepFiles(data, ports[0]);
    hold(event, keptFiles.size > 0 ? HOLD_MS : UNUSED_MS);
  }
});

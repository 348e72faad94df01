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
const kept = new Map<string, Kept>();
let untilMs = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let endHold: () => void = () => undefined;

/** Keeps the worker running for `ms`, then drops the files and unregisters the worker. Replaces an earlier call. */
function hold(event: PageMessage, ms: number): void {
  stopHolding();
  untilMs = Date.now() + ms;
  const held = new Promise<void>((resolve) => {
    endHold = resolve;
  });
  timer = setTimeout(() => {
    kept.clear();
    scope.registration.unregister().then(endHold, endHold);
  }, ms);
  event.waitUntil(held);
}

function stopHolding(): void {
  clearTimeout(timer);
  endHold();
}

/** Drops the files of other owners of the same service. */
function dropOthers({ service, owner }: Pick<Kept, 'service' | 'owner'>): void {
  for (const [id, file] of kept) if (file.service === service && file.owner !== owner) kept.delete(id);
}

scope.addEventListener('message', (event) => {
  const { data, origin, ports, source } = event;
  // Frames are not served, because they may be part of another site's page.
  const isPage = !source || source.frameType === 'top-level' || source.frameType === 'auxiliary';
  if (!data || !isPage || origin !== scope.location.origin) return;
  // Timers stop while a device sleeps.
  if (Date.now() > untilMs) kept.clear();
  if (data.ask) {
    const ask = readAsk(data.ask);
    if (!ask) return;
    // Without an owner, the page may not have named its user yet (decision 0036).
    if (ask.owner !== '') dropOthers(ask);
    const found = filesFor(ask, kept.values());
    for (const file of found) kept.delete(idOf(file));
    ports[0]?.postMessage(found);
    if (kept.size === 0) stopHolding();
    return;
  }
  if (data.drop) kept.clear();
  else if (!Array.isArray(data.files)) return;
  for (const file of readFiles(data.files)) {
    dropOthers(file);
    kept.set(idOf(file), file);
  }
  hold(event, kept.size > 0 ? HOLD_MS : UNUSED_MS);
});

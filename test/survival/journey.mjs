// One journey: a user uploads one file with one client, while the events of a trace happen.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KINDS } from './kinds.mjs';
import { createTrace } from './trace.mjs';
import { Visit } from './visit.mjs';
import { createWorld, FOLDER, USER } from './world.mjs';

const LOOK_EVERY_MS = 200;
const MOST_CLICKS = 6;

/**
 * The user of the model. `afterMs`: how long a page is in a state before the user acts. Golden Retriever and the file keeper need
 * up to three seconds for a file that they restore.
 */
const USER_ACTS = {
  idle: { afterMs: 4000, count: 'picks', act: ({ visit, path }) => visit.pick(path) },
  failed: { afterMs: 10_000, count: 'clicks', act: ({ visit }) => visit.click() },
};

/** Does what the events say, each at its time, until `signal` aborts. Adds the kinds to `happened`. */
async function play(trace, world, happened, signal) {
  const startedMs = performance.now();
  const until = (ms) => pause(Math.max(0, startedMs + ms - performance.now()), undefined, { signal });
  for (const event of trace) {
    const { begin, end } = KINDS[event.kind];
    await until(event.atMs);
    happened.push(event.kind);
    await begin(world, event);
    if (!end) continue;
    await until(event.atMs + event.lengthMs);
    await end(world, event);
  }
}

/** Looks at the page, and picks or clicks, until the file is done or the user gives up. Returns the outcome. */
async function watch({ visit, path, counts, deadlineMs }) {
  const startedMs = performance.now();
  let seen = {};
  for (;;) {
    await pause(LOOK_EVERY_MS);
    const now = performance.now();
    const state = await visit.state();
    if (state === 'done') return 'done';
    if (now - startedMs > deadlineMs) return 'late';
    const { loadCount } = visit;
    if (state !== seen.state || loadCount !== seen.loadCount) seen = { state, loadCount, sinceMs: now };
    const { afterMs, count, act } = USER_ACTS[state] ?? {};
    if (!act || now - seen.sinceMs < afterMs) continue;
    if (counts.clicks === MOST_CLICKS && count === 'clicks') return 'gave-up';
    // The page may be gone meanwhile. The user then looks at the next one.
    const isDone = await act({ visit, path }).then(
      () => true,
      () => false,
    );
    if (isDone) counts[count] += 1;
    seen = {};
  }
}

/**
 * Resolves with the row of a journey. `pages` has the origin of the page and the script of the element. Without a seed, no event
 * happens. Outcomes: `stored`; `false-done`, if the client says that it is done, and no file with these bytes is stored; `late`, if
 * the deadline came; `gave-up`, if the user has clicked six times.
 */
export async function runJourney({ world: shape, client, seed, pages }) {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-survival-'));
  const path = join(folder, 'film.bin');
  const bytes = randomBytes(shape.sizeBytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(path, bytes);
  const world = await createWorld({ ...shape, folder, pageOrigin: pages.origin });
  const { widgetScript } = pages;
  const { service, storage, bytesPerSecond, line } = world;
  const place = { client, service, storage, widgetScript, folder: FOLDER, user: USER };
  const visit = new Visit({ profile: join(folder, 'profile'), url: pages.origin, place, bytesPerSecond });
  const counts = { clicks: 0, picks: 0 };
  const happened = [];
  const ending = new AbortController();
  try {
    await visit.start();
    const startedMs = performance.now();
    await visit.pick(path);
    const trace = seed === undefined ? [] : createTrace(shape, seed);
    const { signal } = ending;
    const playing = play(trace, { ...world, visit }, happened, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
    const watching = watch({ visit, path, counts, deadlineMs: shape.deadlineMs });
    const outcome = await Promise.race([watching, playing.then(() => watching)]);
    const ms = Math.round(performance.now() - startedMs);
    ending.abort();
    await playing;
    const isStored = await world.isStored(sha256);
    const browser = visit.version;
    await visit.close();
    const done = isStored ? 'stored' : 'false-done';
    return {
      ...{ world: shape.name, client, seed, outcome: outcome === 'done' ? done : outcome, isStored },
      ...{ ...counts, ms, bytesRatio: line.sentBytes / shape.sizeBytes, loads: visit.loadCount },
      ...{
        sizeBytes: shape.sizeBytes,
        bytesPerSecond,
        browser,
        happened: happened.join(' '),
        log: visit.log,
      },
    };
  } finally {
    ending.abort();
    await visit.close().catch(() => undefined);
    await world.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

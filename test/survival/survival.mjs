// Runs journeys, some at once, and writes their rows.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { servePage } from '../bench/page-server.mjs';
import { runJourney } from './journey.mjs';
import { chooseWorlds } from './worlds.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

export const CLIENTS = [
  'secure-uploader',
  'secure-uploader-keeper',
  'tus-js',
  'uppy-s3',
  'uppy-golden-retriever',
];

/** Serves the page of the clients: `{ origin, widgetScript, stop() }`. */
export const servePages = () =>
  servePage({ entries: { clients: join(here, 'page/main.js') }, withWidget: true, withKeeper: true });

/**
 * Returns the journeys of all worlds, clients and seeds, those of one seed together. Journeys without events come first, one for
 * each world and client.
 */
export function planJourneys({ worldNames, clients, seeds, change = {} }) {
  const worlds = chooseWorlds(worldNames);
  return [undefined, ...seeds].flatMap((seed) =>
    worlds.flatMap((world) => clients.map((client) => ({ world: { ...world, ...change }, client, seed }))),
  );
}

const keyOf = ({ world, client, seed }) => [world.name ?? world, client, seed].join(' ');

/** Returns the rows in a file; none if there is no file. */
export const readRows = (path) =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text))
    : [];

/** Returns the row of a journey that the harness could not run to its end. It says nothing about the client. */
const broken = ({ world, client, seed }, error) => ({
  ...{
    world: world.name,
    client,
    seed,
    outcome: 'broken',
    clicks: 0,
    picks: 0,
    loads: 1,
    ms: 0,
    bytesRatio: 0,
  },
  ...{ happened: '', log: [String(error)] },
});

/**
 * Runs those of `journeys` that have no row in the file `path`, `atOnce` of them at once, and adds a row for each that ends. Starts
 * none after `minutes`. Calls `onRow` with each row.
 */
export async function runJourneys(
  journeys,
  { pages, path, atOnce, minutes = Number.POSITIVE_INFINITY, onRow },
) {
  const endMs = performance.now() + minutes * 60_000;
  const have = new Set(readRows(path).map(keyOf));
  const waiting = journeys.filter((journey) => !have.has(keyOf(journey)));
  mkdirSync(dirname(path), { recursive: true });
  const lane = async () => {
    while (waiting.length > 0 && performance.now() < endMs) {
      const journey = waiting.shift();
      const row = await runJourney({ ...journey, pages }).catch((error) => broken(journey, error));
      if (row.outcome !== 'broken') appendFileSync(path, `${JSON.stringify(row)}\n`);
      onRow(row);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return waiting.length;
}

/** Returns the essential parts of a row in one line. */
export const lineOf = ({ world, client, seed, outcome, clicks, picks, ms, bytesRatio, happened }) =>
  [
    world.padEnd(8),
    client.padEnd(22),
    String(seed ?? 'clean').padEnd(6),
    outcome.padEnd(11),
    `${clicks} clicks, ${picks} picks, ${(ms / 1000).toFixed(0)} s, ${bytesRatio.toFixed(2)} bytes a byte:`,
    happened,
  ].join(' ');

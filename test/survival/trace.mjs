// The events of one journey, by time, from a seed: the same for every client and on every machine.
import { createHash } from 'node:crypto';

/** Returns a function that returns numbers from 0 to below 1. Equal names give equal numbers. */
function randomOf(name) {
  let count = 0;
  return () => {
    count += 1;
    return createHash('sha256').update(`${name} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
}

/** Returns a log-normal length in whole milliseconds. */
function lengthOf({ medianMs, sigma, mostMs }, random) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.round(Math.min(mostMs, medianMs * Math.exp(sigma * normal)));
}

function kindOf(events, random) {
  const kinds = Object.entries(events);
  let left = random() * kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  for (const [kind, { weight }] of kinds) {
    left -= weight;
    if (left < 0) return kind;
  }
  return kinds.at(-1)[0];
}

/**
 * Returns the events as `{ kind, atMs, lengthMs, choice }`, oldest first. An event begins after the one before has ended; `choice`,
 * from 0 to below 1, decides details of a kind.
 */
export function createTrace(world, seed) {
  const random = randomOf(`${world.name} ${seed}`);
  const events = [];
  for (let atMs = world.firstEventMs; ; ) {
    atMs += Math.round(-Math.log(1 - random()) * world.meanGapMs);
    if (atMs > world.lastEventMs) return events;
    const kind = kindOf(world.events, random);
    const lengthMs = lengthOf(world.events[kind].length, random);
    events.push({ kind, atMs, lengthMs, choice: random() });
    atMs += lengthMs;
  }
}

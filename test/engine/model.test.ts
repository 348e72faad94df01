// Random commands, faults, tabs, reloads, clock jumps, owners and sign-outs, in any order: every upload ends correctly. A failure
// prints its seed and the shortest list of commands that still fails. `MODEL_SEED=7 npx wtr --files test/engine/model.test.ts`
// repeats seed 7.

import fc from 'fast-check';
import { createModelStore, World } from '../support/model.ts';
import { anyCommand } from '../support/model-commands.ts';
import { firstSeed, isFullSize, onlySeed } from '../support/scope.ts';

const seed = onlySeed ?? firstSeed;
const isChromium = 'userAgentData' in navigator;
/**
 * Number of runs, one after the other, because a sign-out is one for all uploaders of a page. A test has two, because a run takes
 * seconds on a busy machine. WebKit is slower, so it has only four.
 */
const RUNS = isChromium ? (isFullSize ? 1200 : 50) : 4;
const TESTS = Math.ceil(RUNS / 2);
/** Longest search for the shortest list of commands that fails, in milliseconds. Less than the timeout of a test. */
const SEARCH_MS = 40_000;

class Happening implements fc.AsyncCommand<object, World> {
  readonly #text: string;
  readonly #step: (world: World) => unknown;

  constructor({ text, step }: { readonly text: string; readonly step: (world: World) => unknown }) {
    this.#text = text;
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, world: World): Promise<void> {
    await world.take(this.#text, this.#step);
  }

  toString(): string {
    return this.#text;
  }
}

const commands = fc.commands([anyCommand.map((named) => new Happening(named))], { maxCommands: 25 });

describe('uploads', () => {
  for (let part = 0; part < TESTS; part += 1)
    it(`end correctly whatever happens (seed ${seed}, part ${part + 1})`, async () => {
      const store = createModelStore();
      const property = fc.asyncProperty(fc.nat(), commands, async (worldSeed, given) => {
        const world = new World(worldSeed, store);
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: world }), given);
        } finally {
          await world.finish();
        }
      });
      await fc.assert(property, {
        seed: seed + part,
        numRuns: Math.ceil(RUNS / TESTS),
        interruptAfterTimeLimit: SEARCH_MS,
        markInterruptAsFailure: true,
        includeErrorInReport: true,
      });
    });
});

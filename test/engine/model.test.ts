// Whatever happens in whatever order, every upload ends correctly: random commands, faults, tabs, reloads and clock jumps. A
// failure prints its seed and the shortest commands that still fail. `MODEL_SEED=7 npx wtr --files test/engine/model.test.ts`
// repeats it.

import fc from 'fast-check';
import { createModelStore, readScope, World } from '../support/model.ts';
import { anyCommand } from '../support/model-commands.ts';

// The same commands in every run of CI; another seed covers others.
const { isFullRun, seed = 1 } = await readScope();
const isChromium = 'userAgentData' in navigator;
/** Simulations that run in parallel in this page: most of their time is waiting. */
const LANES = 4;
/** Twenty runs a test: on a busy machine a run takes seconds, and WebKit is slower still. */
const RUNS = isChromium ? (isFullRun ? 2000 : 50) : 4;
const TESTS = Math.ceil(RUNS / 20);

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
      const lanes = Array.from({ length: LANES }, (_, lane) => {
        const store = createModelStore();
        const property = fc.asyncProperty(fc.nat(), commands, async (worldSeed, given) => {
          const world = new World(worldSeed, store);
          try {
            await fc.asyncModelRun(() => ({ model: {}, real: world }), given);
          } finally {
            await world.finish();
          }
        });
        return fc.assert(property, {
          seed: seed + part * LANES + lane,
          numRuns: Math.ceil(RUNS / TESTS / LANES),
        });
      });
      await Promise.all(lanes);
    });
});

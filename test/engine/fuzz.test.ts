// Two tabs and 150 random commands for each seed, with faults in between: every upload ends correctly. `MODEL_SEED=7` runs only
// seed 7.

import fc from 'fast-check';
import { createModelStore, World } from '../support/model.ts';
import { anyCommand } from '../support/model-commands.ts';
import { firstSeed, isFullSize, onlySeed } from '../support/scope.ts';

const COUNT = isFullSize && 'userAgentData' in navigator ? 100 : 4;
const STEPS = 150;
const SEEDS = onlySeed !== undefined ? [onlySeed] : Array.from({ length: COUNT }, (_, at) => firstSeed + at);

async function fuzz(seed: number): Promise<void> {
  const world = new World(seed, createModelStore());
  world.open();
  const texts: string[] = [];
  try {
    for (const { text, step } of fc.sample(anyCommand, { seed, numRuns: STEPS })) {
      texts.push(text);
      await world.take(text, step);
      if (world.random() < 0.5) await new Promise((resolve) => setTimeout(resolve, world.random() * 3));
    }
  } finally {
    await world.finish().catch((cause) => {
      throw new Error(`seed ${seed}: ${cause}\n${texts.join('\n')}`, { cause });
    });
  }
}

describe('two tabs', () => {
  // One after the other, because a sign-out is one for all uploaders of a page.
  for (const seed of SEEDS) it(`end correctly with the seed ${seed}`, () => fuzz(seed));
});

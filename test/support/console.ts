// Warnings on the console during a test.

import { settled } from './collect.ts';

/** A warning on pages on `localhost`, once, with the first file. `test/engine/warn-of-settings.test.ts` tests it. */
const OF_PAGE = 'secure-uploader: Not set: ';

/** Calls `act` with a growing array of the warnings on the console, each as one string, without those about the test's page. */
export async function captureWarnings(act: (warnings: readonly string[]) => unknown): Promise<void> {
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (...args: unknown[]) => {
    const line = args.join(' ').trim();
    if (!line.startsWith(OF_PAGE)) warnings.push(line);
  };
  try {
    await act(warnings);
  } finally {
    console.warn = warn;
  }
}

/** Resolves when the warnings so far have their texts, which are loaded on demand. */
export async function explained(): Promise<void> {
  await import('../../src/core/explanations.ts');
  await settled();
}

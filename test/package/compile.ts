// Compiles files in an app that has the package installed.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { PackedApp } from './packed.ts';

const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const compilerOptions = {
  noEmit: true,
  strict: true,
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
  jsx: 'react-jsx',
};
const RESOLUTIONS = {
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
  node: ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
};
type Resolution = keyof typeof RESOLUTIONS;

/**
 * Asserts that `files` and all declarations that they use have valid types. `resolutions` selects how modules are resolved: as
 * bundlers or as Node.
 */
export async function compile(
  app: PackedApp,
  name: string,
  files: Record<string, string>,
  resolutions: readonly Resolution[],
): Promise<void> {
  const config = `${name}.tsconfig.json`;
  for (const [file, text] of Object.entries(files)) await app.write(file, text);
  await app.write(config, JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const run = (resolution: Resolution): Promise<unknown> =>
    app.node(tsc, '--project', config, ...RESOLUTIONS[resolution]).catch((error: { stdout: string }) => {
      assert.fail(`${resolution}\n${error.stdout}`);
    });
  await Promise.all(resolutions.map(run));
}

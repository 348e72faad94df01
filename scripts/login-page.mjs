// Bundles a source file and its imports into one file. Used for the service's own sign-in page, and for the pages of the journeys.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { workerCodes } from './cdn-parts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Bundles a source file, such as `src/login.ts` (relative to the project root). Resolves with the code. */
export async function bundle(source) {
  const result = await build({
    root,
    configFile: false,
    plugins: [workerCodes],
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rollupOptions: {
        input: join(root, source),
        preserveEntrySignatures: 'strict',
        output: { format: 'es', codeSplitting: false },
      },
    },
  });
  const [{ output }] = [result].flat();
  return output[0].code;
}

export const buildLoginPage = () => bundle('src/login.ts');

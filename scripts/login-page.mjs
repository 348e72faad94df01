// Bundles what the service's own sign-in page loads: `<secure-uploader-login>`, in one file. Used by `npm start` and by the
// journeys.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Answers the text of the file, built anew. */
export async function buildLoginPage() {
  const result = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rollupOptions: {
        input: join(root, 'src/login.ts'),
        output: { format: 'es', codeSplitting: false },
      },
    },
  });
  const [{ output }] = [result].flat();
  return output[0].code;
}

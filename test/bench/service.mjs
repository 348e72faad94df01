// The whole reference service for one run: a separate process (service/main.mjs), an empty folder, a signed-in user.
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./service/main.mjs', import.meta.url));

/** Whether there is a reference service to start. */
export const hasService = () =>
  existsSync(fileURLToPath(new URL('../../demo/server/server.ts', import.meta.url)));

/**
 * Starts the service with its production defaults for a page of that origin. Returns `{service, storage, token, folder}`,
 * `counts()` of its requests and of the bytes in finished files, and `stop()`, after which nothing is left on disk.
 */
export async function startService(pageOrigin) {
  const child = fork(script, [pageOrigin], { execArgv: ['--import', 'tsx'] });
  const { ready } = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the reference service ended with ${code}`)));
  });
  const hear = (call) =>
    new Promise((resolve) => {
      child.once('message', resolve);
      child.send(call);
    });
  return {
    ...ready,
    counts: () => hear('counts'),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.disconnect();
      }),
  };
}

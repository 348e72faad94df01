// Starts the complete reference service for one run: a separate process (service/main.mjs) with an empty folder and a signed-in
// user.
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./service/main.mjs', import.meta.url));

/** Returns true if the reference service exists in this project. */
export const hasService = () =>
  existsSync(fileURLToPath(new URL('../../demo/server/server.ts', import.meta.url)));

/**
 * Starts the service with its production defaults for a page of `pageOrigin`. Returns `{service, storage, token, folder}`,
 * `counts()` and `stop()`. `counts()` returns the numbers of requests and of bytes in finished files. `stop()` also deletes the
 * data of the service.
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

// The whole reference service for one run, in a process of its own with an empty folder, and a user who is signed in.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../demo/server/start.ts', import.meta.url));

/** Whether there is a reference service. */
export const findService = () => existsSync(script);

/** Not yet. */
export async function startService() {
  throw new Error('the reference service cannot be started yet');
}

// A hooks.ts for the example: each token names its user. It is copied into the folder of the example, so it imports only Node.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { REPORTS = '', FAILING_REPORTS = '0.2', SLOW_REFUSALS = '0' } = process.env;

export async function authorize(
  request: Request,
  { folder }: { folder: string | undefined },
): Promise<{ user: string; freeBytes: number; maxFileBytes: number } | 401 | 403> {
  const user = /^Bearer (user-\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  if (!user) return 401;
  return folder === undefined || folder === 'folder-a'
    ? { user, freeBytes: 2 ** 40, maxFileBytes: 2 ** 36 }
    : 403;
}

/** Some reports fail after they were written, and some never end. */
export async function onCompleted(file: { name: string }): Promise<void> {
  appendFileSync(REPORTS, `${JSON.stringify(file)}\n`);
  if (file.name.endsWith('.fail') || Math.random() < Number(FAILING_REPORTS))
    throw new Error('the receiver was not there');
  if (file.name.endsWith('.hang')) await new Promise(() => undefined);
}

/** Refuses programs. For scans, the scanner is away. Some files take longer than a lease. */
export async function refuse({ name }: { name: string }): Promise<string | undefined> {
  if (name.endsWith('.slow') || Math.random() < Number(SLOW_REFUSALS)) await sleep(4000);
  if (name.endsWith('.scan')) throw new Error('the scanner is away');
  return name.endsWith('.exe') ? 'Programs are not accepted.' : undefined;
}

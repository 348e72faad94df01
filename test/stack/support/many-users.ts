// A hooks.ts for the example: each token names its user. It is copied into the folder of the example, so it imports only Node.
import { appendFileSync } from 'node:fs';

const { REPORTS = '', FAILING_REPORTS = '0.2' } = process.env;

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

/** Some reports fail after they were written. */
export async function onCompleted(file: object): Promise<void> {
  appendFileSync(REPORTS, `${JSON.stringify(file)}\n`);
  if (Math.random() < Number(FAILING_REPORTS)) throw new Error('the receiver was not there');
}

/** Refuses programs. For scans, the scanner is away. */
export async function refuse({ name }: { name: string }): Promise<string | undefined> {
  if (name.endsWith('.scan')) throw new Error('the scanner is away');
  return name.endsWith('.exe') ? 'Programs are not accepted.' : undefined;
}

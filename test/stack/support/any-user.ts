// A hooks.ts for the example: a token begins with the name of its user, and folders have the rules of the reference service. It is
// copied into the folder of the example, so it imports only Node.
import { appendFileSync } from 'node:fs';

const { ASSEMBLED = '' } = process.env;

export async function authorize(
  request: Request,
  { folder }: { folder: string | undefined },
): Promise<{ user: string; freeBytes: number; maxFileBytes: number } | 401 | 403> {
  const user = /^Bearer (\w+)\./.exec(request.headers.get('authorization') ?? '')?.[1];
  if (!user) return 401;
  if (user === 'vic' && folder === 'folder-b') return 403;
  return { user, freeBytes: 2 ** 40, maxFileBytes: folder === 'folder-small' ? 2 ** 20 : 2 ** 36 };
}

export async function onCompleted(): Promise<void> {}

/** Writes down each file: unlike `onCompleted`, this runs before the response to the commit. */
export async function refuse(file: object): Promise<undefined> {
  appendFileSync(ASSEMBLED, `${JSON.stringify(file)}\n`);
}

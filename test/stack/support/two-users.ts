// A hooks.ts for the example that knows two users. It is copied into the folder of the example, so it imports nothing.
const { DEMO_TOKEN = '', SECOND_TOKEN = '', DEMO_FOLDER } = process.env;
const USERS = new Map([
  [`Bearer ${DEMO_TOKEN}`, 'alice@example.com'],
  [`Bearer ${SECOND_TOKEN}`, 'bob'],
]);

export async function authorize(
  request: Request,
  { folder }: { folder: string | undefined },
): Promise<{ user: string; freeBytes: number; maxFileBytes: number } | 401 | 403> {
  const user = USERS.get(request.headers.get('authorization') ?? '');
  if (!user) return 401;
  if (folder !== undefined && folder !== DEMO_FOLDER) return 403;
  return { user, freeBytes: 500 * 2 ** 30, maxFileBytes: 50 * 2 ** 30 };
}

export async function onCompleted({ key }: { key: string }): Promise<void> {
  console.log(JSON.stringify({ completed: key }));
}

export async function refuse(): Promise<undefined> {}

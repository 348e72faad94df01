// A process that sends all that one user can send, as fast as it is answered: `node --import tsx hostile-user.ts <base URL>`.
// Prints the number of each kind of request and its status on SIGTERM.
import { createHash } from 'node:crypto';
import { connect } from 'node:net';

const [, , baseUrl = ''] = process.argv;
const SESSION = '/files/uploadsession';
const CHUNK = Buffer.from('x');
const HASH = createHash('sha256').update(CHUNK).digest('hex');
const { hostname, port } = new URL(baseUrl);
const statuses: Record<string, number> = {};
process.once('SIGTERM', () => process.stdout.write(JSON.stringify(statuses), () => process.exit()));

interface Answer {
  readonly session_id?: string;
  readonly chunks?: Readonly<
    Record<string, { readonly receipt: string; readonly upload_url: string | null }>
  >;
}
const count = (kind: string, status: unknown): void => {
  const key = `${kind} ${status}`;
  statuses[key] = (statuses[key] ?? 0) + 1;
};
async function send(kind: string, path: string, body: object | string, session = ''): Promise<Answer> {
  const headers = { authorization: 'Bearer user-hostile', 'x-service-uploadsession': session };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(baseUrl + SESSION + path, { method: 'POST', headers, body: text });
  count(kind, response.status);
  return (await response.json()) as Answer;
}
const open = (name: string) =>
  send('open', '', { parent_id: 'folder-a', file_name: name, file_size: CHUNK.length });

/** Commits a file whose scan is slow, and repeats that at once. */
async function commit(): Promise<void> {
  const { session_id: session } = await open('a.slow');
  if (!session) return;
  const given = { hashes: [HASH], sizes: [CHUNK.length] };
  const { chunks } = await send('presign', '/chunks', given, session);
  const { receipt, upload_url: url } = chunks?.[HASH] ?? {};
  if (url) await fetch(url, { method: 'PUT', body: new Uint8Array(CHUNK) });
  for (let times = 0; times < 20; times += 1)
    await send('commit', '/commit', { hashes: [HASH], receipts: [receipt] }, session);
}

const large = `{"a":[${'{},'.repeat(490_000)}{}]}`;
const parse = () => send('parse', '/commit', large, 'a'.repeat(32));

/** Sends a body without end, in small parts. */
const drip = () =>
  new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname);
    const timer = setInterval(() => socket.write('1\r\n \r\n'), 100);
    socket.on('error', () => undefined);
    socket.once('data', (text) => count('drip', text.toString().split(' ')[1]));
    socket.once('close', () => {
      clearInterval(timer);
      resolve();
    });
    const head = `POST ${SESSION} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer user-hostile\r\n`;
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
  });

// Bodies without end take three of the eight requests at once, so that the other kinds have their turn too.
for (const [work, times] of [
  [() => open('a.bin'), 16],
  [commit, 16],
  [parse, 16],
  [drip, 3],
] as const)
  for (let index = 0; index < times; index += 1)
    void (async () => {
      for (;;) await work().catch(() => undefined);
    })();

// A simulated client of the service: uploads a file, and repeats what fails until an outage is over.
import { createHash, randomBytes } from 'node:crypto';

const SESSION = '/files/uploadsession';
/** Longest delay between two attempts. */
const LONGEST_MS = 300;

export interface Sent {
  readonly fileId: string;
  readonly name: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface Client {
  readonly user: string;
  /** Base URL for the next request. */
  readonly baseUrl: () => string;
  /** Statuses of all responses, and `0` for requests without one. */
  readonly onStatus?: (status: number, operation: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Sends a request to the service until it is answered with a status that is no outage. */
async function ask(
  { user, baseUrl, onStatus }: Client,
  path: string,
  body?: object,
  session?: string,
): Promise<Answer> {
  for (;;) {
    const headers = { authorization: `Bearer ${user}`, 'x-service-uploadsession': session ?? '' };
    const init = body
      ? { method: 'POST', headers, body: JSON.stringify(body) }
      : { method: 'DELETE', headers };
    const response = await fetch(`${baseUrl()}${SESSION}${path}`, init).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    onStatus?.(text === undefined ? 0 : (response?.status ?? 0), path || (body ? 'open' : 'cancel'));
    if (response && text !== undefined && ![202, 429, 503].includes(response.status))
      return { status: response.status, body: text ? JSON.parse(text) : {} };
    const waitMs = Number(response?.headers.get('retry-after') ?? 0) * 1000 || LONGEST_MS;
    await pause(Math.min(waitMs, LONGEST_MS) * (0.5 + Math.random()));
  }
}

/** Uploads `sizes.length` chunks of random bytes. Resolves with `undefined` if the file was canceled before its commit. */
export async function upload(
  client: Client,
  name: string,
  sizes: readonly number[],
  isCanceled = false,
): Promise<Sent | undefined> {
  const chunks = sizes.map((size) => randomBytes(size));
  const hashes = chunks.map(hashOf);
  const byHash = new Map(hashes.map((hash, index) => [hash, chunks[index] as Buffer]));
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  const opened = await ask(client, '', { parent_id: 'folder-a', file_name: name, file_size: sizeBytes });
  if (opened.status !== 201) throw new Error(`open: ${opened.status}`);
  const session = String(opened.body.session_id);
  const receipts = new Map<string, string>();
  let wanted = [...byHash.keys()];
  for (;;) {
    for (let at = 0; at < wanted.length; at += 100) {
      const batch = wanted.slice(at, at + 100);
      const given = { hashes: batch, sizes: batch.map((hash) => byHash.get(hash)?.length) };
      const { status, body } = await ask(client, '/chunks', given, session);
      if (status !== 200) throw new Error(`presign: ${status} ${JSON.stringify(body)}`);
      for (const [hash, entry] of Object.entries(body.chunks as Record<string, Record<string, never>>)) {
        receipts.set(hash, entry.receipt ?? '');
        if (entry.upload_url) await put(entry.upload_url, entry.headers, byHash.get(hash));
      }
    }
    if (isCanceled) {
      await ask(client, '', undefined, session);
      return undefined;
    }
    const proofs = { hashes, receipts: hashes.map((hash) => receipts.get(hash)) };
    const { status, body } = await ask(client, '/commit', proofs, session);
    if (status === 200)
      return { fileId: String(body.file_id), name, sizeBytes, sha256: hashOf(Buffer.concat(chunks)) };
    if (status !== 409) throw new Error(`commit: ${status} ${JSON.stringify(body)}`);
    wanted = body.missing as string[];
  }
}

async function put(url: string, headers: HeadersInit | undefined, body: Buffer | undefined): Promise<void> {
  const init = { method: 'PUT', ...(headers && { headers }), ...(body && { body: new Uint8Array(body) }) };
  for (;;) {
    const response = await fetch(url, init).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    if (response?.ok) return;
    if (response && response.status < 500 && response.status !== 429)
      throw new Error(`put: ${response.status}`);
    await pause(LONGEST_MS * (0.5 + Math.random()));
  }
}

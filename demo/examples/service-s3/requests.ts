// What a request may cost before its operation begins: how many a user has at once and in a minute, and how long a body is.
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from './database.ts';

/** Of one user, in each process. Those above it are refused without a question to the database. */
const REQUESTS_AT_ONCE = 8;
const REQUESTS_PER_MINUTE = 3000;
/** Of these, what a process takes at once: most requests need no statement then. What is left of it is lost after a minute. */
const STEP = Math.ceil(REQUESTS_PER_MINUTE / 100);
const MINUTE_MS = 60_000;
/** Time until the answer to a request above these limits, so that a client that repeats it at once costs little. */
const REFUSAL_MS = 1000;
/** A body that takes longer is given up. */
const BODY_MS = 30_000;
/** A smaller part of a body counts as this many bytes, because each part takes time. */
const PART_BYTES = 256;
/** A larger body counts as several requests: one more for each 120 chunks of a commit. */
const BYTES_OF_A_REQUEST = 16_384;

/** A body takes time for each value, more than for its bytes. A commit of 10,000 chunks has 20,000. */
const MAX_VALUES = 25_000;
const [COMMA, BRACKET, BRACE] = Buffer.from(',[{');

export const reply = (status: number, body: object, headers = {}) => Response.json(body, { status, headers });
export function must(condition: unknown, status: number, debuginfo: string, headers = {}): asserts condition {
  if (!condition) throw reply(status, { debuginfo }, headers);
}

async function refuse(debuginfo: string, retryAfter: number): Promise<never> {
  await sleep(REFUSAL_MS);
  throw reply(429, { debuginfo }, { 'retry-after': `${retryAfter}` });
}

/** Reads the body, whatever length it says it has. */
async function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  const isAllowed = (bytes: number) =>
    must(bytes <= maxBytes, 413, `the body has more than ${maxBytes} bytes`);
  isAllowed(Number(request.headers.get('content-length') ?? 0));
  const reader = request.body?.getReader();
  const parts: Uint8Array[] = [];
  const ended = new AbortController();
  const late = sleep(BODY_MS, undefined, { signal: ended.signal, ref: false });
  try {
    for (let weight = 0; reader; ) {
      const part = await Promise.race([reader.read(), late]);
      must(part, 408, 'the body takes too long');
      if (part.done) break;
      weight += Math.max(part.value.byteLength, PART_BYTES);
      isAllowed(weight);
      // A copy: a small part would keep the 64 KiB that came with it.
      parts.push(Buffer.from(part.value));
    }
  } catch (error) {
    // The reason of a body that is cut off may have parts of it.
    throw error instanceof Response ? error : reply(400, { debuginfo: 'the body is not complete' });
  } finally {
    late.catch(() => undefined);
    ended.abort();
  }
  return Buffer.concat(parts);
}

/** True if parsing takes no longer than that of the largest commit. */
function isSimple(bytes: Buffer): boolean {
  let count = 0;
  for (let at = 0; at < bytes.length && count <= MAX_VALUES; at += 1) {
    const sign = bytes[at];
    if (sign === COMMA || sign === BRACKET || sign === BRACE) count += 1;
  }
  return count <= MAX_VALUES;
}

export function createGate(database?: Database) {
  const limits = { keyPrefix: 'requests', points: REQUESTS_PER_MINUTE, duration: 60 };
  // Those that are refused for the rest of a minute are not counted in the database.
  const table = {
    tableName: 'upload_rates',
    tableCreated: true,
    inMemoryBlockOnConsumed: REQUESTS_PER_MINUTE + 1,
  };
  // Without the name of the statement: behind a pooler, the next transaction has another connection.
  const storeClient = database && {
    query: ({ text, values }: { text: string; values: unknown[] }) => database.run(text, values),
  };
  const requests = storeClient
    ? new RateLimiterPostgres({ ...limits, ...table, storeClient, storeType: 'client' })
    : new RateLimiterMemory(limits);
  const running = new Map<string, number>();
  /** What is left of the steps that were taken. */
  const rests = new Map<string, number>();

  function keep(user: string, rest: number): void {
    if (!rests.has(user)) setTimeout(() => rests.delete(user), MINUTE_MS).unref();
    rests.set(user, rest);
  }

  /** A negative amount gives back what was counted. */
  async function count(user: string, amount: number): Promise<void> {
    const restOf = () => rests.get(user) ?? 0;
    if (restOf() < amount) {
      const step = Math.max(STEP, amount - restOf());
      await requests.consume(user, step).catch((error: unknown) => {
        if (!(error instanceof RateLimiterRes)) throw error;
        return refuse('too many requests', Math.ceil(error.msBeforeNext / 1000));
      });
      keep(user, restOf() + step);
    }
    keep(user, restOf() - amount);
  }

  return {
    /**
     * Does `work`, unless too many requests of the user are running. `more` adds what the body turns out to be: requests that it
     * replaces, fewer if it is negative, and how many of them run at once.
     */
    async pass(
      user: string,
      work: (more: (requests: number, atOnce: number) => Promise<void>) => Promise<Response>,
    ): Promise<Response> {
      let taken = 0;
      const take = async (amount: number, places: number) => {
        const others = running.get(user) ?? 0;
        if (others + places > REQUESTS_AT_ONCE) await refuse('too many requests at once', 1);
        running.set(user, others + places);
        taken += places;
        if (amount !== 0) await count(user, amount);
      };
      try {
        await take(1, 1);
        return await work(take);
      } finally {
        const left = (running.get(user) ?? 0) - taken;
        if (left > 0) running.set(user, left);
        else running.delete(user);
      }
    },
    /** Resolves with the object in the body. */
    async read(request: Request, user: string, maxBytes: number): Promise<Record<string, unknown>> {
      const bytes = await readBody(request, maxBytes);
      const more = Math.floor(bytes.length / BYTES_OF_A_REQUEST);
      if (more > 0) await count(user, more);
      must(isSimple(bytes), 400, `the body has more than ${MAX_VALUES} values`);
      try {
        const body: unknown = JSON.parse(bytes.toString());
        if (typeof body === 'object' && body) return body as Record<string, unknown>;
      } catch {}
      throw reply(400, { debuginfo: 'the body must be a JSON object' });
    },
  };
}

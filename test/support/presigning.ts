// Chunks that need tickets, and a service that issues tickets immediately.

import type { HashedChunk, Ticket } from '../../src/core/types.ts';
import type { PresignParts } from '../../src/pipeline/presign.ts';

export const KIB64 = 65_536;

export function chunks(
  count: number,
  { sizeBytes = KIB64, hashOf = (index: number) => `hash-${index}` } = {},
): HashedChunk[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    start: index * sizeBytes,
    sizeBytes,
    hash: hashOf(index),
  }));
}

export async function* stream(items: readonly HashedChunk[]): AsyncGenerator<HashedChunk, void, undefined> {
  for (const item of items) yield item;
}

/**
 * Returns the parts of the presign stage, with a service that issues tickets immediately. `asked` lists the requested hashes;
 * `lives.ms` sets the lifetime of tickets.
 */
export function setUpPresigning(given: Partial<PresignParts> = {}) {
  const asked: string[][] = [];
  const lives: { ms: number | undefined } = { ms: undefined };
  const ticketFor = (hash: string): Ticket => {
    const receivedAtMs = performance.now();
    const life = lives.ms === undefined ? {} : { receivedAtMs, expiresAtMs: receivedAtMs + lives.ms };
    return {
      receipt: `receipt of ${hash}, ${asked.length}`,
      upload: { url: `https://store.test/${hash}`, method: 'PUT', headers: {}, ...life },
    };
  };
  const parts: PresignParts = {
    ask: async (wanted) => {
      asked.push(wanted.map(({ hash }) => hash));
      return new Map(wanted.map(({ hash }) => [hash, ticketFor(hash)]));
    },
    ready: Promise.resolve(),
    eagerBytes: 16 * 2 ** 20,
    bytesPerSecond: () => 1e6,
    receiptOf: () => undefined,
    batch: { max: 64 },
    ...given,
  };
  return { asked, lives, parts, sizes: () => asked.map(({ length }) => length) };
}

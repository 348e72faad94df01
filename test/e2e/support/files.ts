// Creates files of random bytes, and computes SHA-256 hashes.
import { createHash, randomFillSync } from 'node:crypto';
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';

const MIB = 2 ** 20;

/** Writes `sizeBytes` random bytes to a file. Returns the SHA-256 of the bytes in hex. */
export function writeRandom(path: string, sizeBytes: number): string {
  const hash = createHash('sha256');
  const block = Buffer.alloc(MIB);
  const file = openSync(path, 'w');
  for (let left = sizeBytes; left > 0; left -= MIB) {
    const part = randomFillSync(block).subarray(0, Math.min(left, MIB));
    hash.update(part);
    writeSync(file, part);
  }
  closeSync(file);
  return hash.digest('hex');
}

/** Returns the SHA-256 of all bytes of a stream in hex, and the number of bytes. */
export async function sumOf(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const part of bytes) {
    hash.update(part);
    sizeBytes += part.byteLength;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

export const sumOfFile = async (path: string): Promise<string> =>
  (await sumOf(createReadStream(path))).sha256;

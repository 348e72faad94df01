// Stores chunks as `<data>/users/<user>/chunks/<hash>`. A chunk is hashed while it is written to a temporary file. That file is
// then flushed and renamed, so an incomplete chunk is never visible. An object store could replace this module.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createBLAKE3 } from 'hash-wasm';
import type { HashName } from './options.ts';
import { isHash, randomId } from './seal.ts';

/** Why a chunk was refused. */
export type PutRefusal = 'hash-mismatch' | 'not-accepted';

/** The stored chunks of all users. All functions throw if `userId` or `hash` is not valid. */
export interface Storage {
  /**
   * Stores a chunk, unless `bytes` throws. Resolves with the reason if the chunk was refused. Concurrent calls for the same chunk
   * are safe. `accept` is called just before a new chunk is stored. If it returns false, the chunk is refused.
   */
  putChunk(
    userId: string,
    hash: string,
    bytes: AsyncIterable<Uint8Array>,
    accept?: () => boolean,
  ): Promise<PutRefusal | undefined>;
  /** Resolves with the size of a stored chunk in bytes, or undefined if the user has no chunk with this hash. */
  chunkSize(userId: string, hash: string): Promise<number | undefined>;
  /** Yields the bytes of the concatenated chunks from `start` to `end` (exclusive). */
  read(userId: string, chunks: StoredChunk[], start: number, end: number): AsyncGenerator<Uint8Array>;
  /** Removes the user's chunks for which `keep` returns false. Resolves with the number of removed chunks. */
  sweep(userId: string, keep: (hash: string) => boolean): Promise<number>;
}

/** A chunk of a finished file. */
export interface StoredChunk {
  hash: string;
  sizeBytes: number;
}

const WRITE_BYTES = 1024 * 1024;
const READ_BYTES = 1024 * 1024;

/** Opens the storage in `dataDir`. Removes incomplete chunks that a killed process left. */
export function openStorage(dataDir: string, hashName: HashName, fsync: boolean): Storage {
  const temporary = join(dataDir, 'incoming');
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const storing = new Set<string>();
  const folderOf = (userId: string): string => {
    if (!/^[a-z0-9-]{1,64}$/.test(userId)) throw new Error('not a user of ours');
    return join(dataDir, 'users', userId, 'chunks');
  };
  const pathOf = (userId: string, hash: string): string => {
    if (!isHash(hash)) throw new Error('not a hash');
    return join(folderOf(userId), hash);
  };

  return {
    async putChunk(userId, hash, bytes, accept = () => true) {
      const path = pathOf(userId, hash);
      const draft = join(temporary, randomId('chunk'));
      const file = await open(draft, 'wx', 0o600);
      try {
        const taken = await writeAll(file, bytes, await startHash(hashName));
        if (taken !== hash) return 'hash-mismatch';
        if (fsync) await file.datasync();
        await file.close();
        // No `await` before `storing.add`, so that only one of several concurrent uploads of a chunk calls `accept`.
        const isNew = !storing.has(path) && !existsSync(path);
        if (isNew && !accept()) return 'not-accepted';
        storing.add(path);
        await mkdir(folderOf(userId), { recursive: true, mode: 0o700 });
        await rename(draft, path);
        if (fsync) await syncFolder(folderOf(userId));
        return undefined;
      } finally {
        storing.delete(path);
        await file.close().catch(() => undefined);
        await rm(draft, { force: true });
      }
    },
    async chunkSize(userId, hash) {
      try {
        return (await stat(pathOf(userId, hash))).size;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async *read(userId, chunks, start, end) {
      let at = 0;
      for (const { hash, sizeBytes } of chunks) {
        const from = Math.max(start - at, 0);
        const to = Math.min(end - at, sizeBytes);
        at += sizeBytes;
        if (from >= to) continue;
        const file = await open(pathOf(userId, hash), 'r');
        try {
          yield* readRange(file, from, to);
        } finally {
          await file.close();
        }
      }
    },
    async sweep(userId, keep) {
      const names = await readdir(folderOf(userId)).catch(() => []);
      let removed = 0;
      for (const name of names) {
        if (keep(name)) continue;
        await rm(join(folderOf(userId), name), { force: true });
        removed += 1;
      }
      return removed;
    },
  };
}

interface Hasher {
  update(bytes: Uint8Array): void;
  digest(): string;
}

async function startHash(name: HashName): Promise<Hasher> {
  if (name === 'sha-256') {
    const hash = createHash('sha256');
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
  }
  const hash = await createBLAKE3();
  hash.init();
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
}

/** Writes all bytes. Resolves with their hash. */
async function writeAll(file: FileHandle, bytes: AsyncIterable<Uint8Array>, hash: Hasher): Promise<string> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  // While a batch is written, the loop receives and hashes the next bytes.
  let writing: Promise<unknown> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await writing;
    const batch = waiting;
    waiting = [];
    waitingBytes = 0;
    if (batch.length > 0) writing = writeFully(file, batch);
    writing.catch(() => undefined);
  };
  try {
    for await (const piece of bytes) {
      hash.update(piece);
      waiting.push(piece);
      waitingBytes += piece.byteLength;
      if (waitingBytes >= WRITE_BYTES) await flush();
    }
    await flush();
  } finally {
    await writing.catch(() => undefined);
  }
  await writing;
  return hash.digest();
}

async function writeFully(file: FileHandle, batch: Uint8Array[]): Promise<void> {
  const wanted = batch.reduce((sum, piece) => sum + piece.byteLength, 0);
  const { bytesWritten } = await file.writev(batch);
  if (bytesWritten === wanted) return;
  // Incomplete writes are rare (disk nearly full), so copying the rest does not affect performance.
  const rest = Buffer.concat(batch).subarray(bytesWritten);
  for (let at = 0; at < rest.byteLength; ) at += (await file.write(rest, at)).bytesWritten;
}

async function* readRange(file: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, to - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at);
    if (bytesRead === 0) throw new Error('a stored chunk is shorter than it was');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

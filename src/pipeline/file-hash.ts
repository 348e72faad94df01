// Computes the SHA-256 of a whole file (`profile.sendFileHash`).

import type { Chunk, ContinueHash, HashAlgorithm, HashedChunk } from '../core/types.ts';
import { changed, sliceOf } from './hash.ts';

interface FileHashParts {
  readonly file: Blob;
  readonly continueHash: ContinueHash;
  readonly signal: AbortSignal;
  readonly hashAlgorithm: HashAlgorithm;
}

/**
 * Hashes each chunk shortly after the pipeline has hashed it, while its bytes are in the cache of the system. Hashes in the order
 * of the file.
 */
export class FileHash {
  /**
   * Resolves with the hash as hex. Rejects with `file-changed` if a chunk now has other bytes, with `file-unreadable`,
   * `hash-failed`, `bad-config`, or the signal's reason.
   */
  readonly result: Promise<string>;
  readonly #onHashed: ((hash: string) => void)[] = [];

  /** `chunks` are all chunks of the file, in any order. */
  constructor(chunks: readonly Chunk[], parts: FileHashParts) {
    const hashed = chunks.map(() => new Promise<string>((resolve) => this.#onHashed.push(resolve)));
    this.result = hashInOrder(chunks, hashed, parts);
  }

  /** Call this method with every chunk, in any order. */
  onHashed({ index, hash }: HashedChunk): void {
    this.#onHashed[index]?.(hash);
  }
}

async function hashInOrder(
  chunks: readonly Chunk[],
  hashed: readonly Promise<string>[],
  { file, hashAlgorithm, continueHash, signal }: FileHashParts,
): Promise<string> {
  const [only] = hashed;
  if (only && hashed.length === 1 && hashAlgorithm === 'sha-256') return only;
  // An empty file has no chunk.
  let found = await continueHash(file.slice(0, 0), new Uint8Array(), signal);
  for (const chunk of [...chunks].sort((one, other) => one.index - other.index)) {
    const hash = await hashed[chunk.index];
    found = await continueHash(sliceOf(file, chunk), found.state, signal);
    if (found.sliceHash !== hash) throw changed(chunk);
  }
  return found.hash;
}

// Completes an upload: checks the receipts, that all chunks are stored, and the total size, then creates the file as a list of
// chunks. A repeated commit with the same chunks gets the same response.
import { createHash } from 'node:crypto';
import { findFolder } from './folders.ts';
import type { Parts, StoredFile, UploadSession } from './parts.ts';
import { Refusal } from './refusal.ts';
import type { StoredChunk } from './storage.ts';

const AT_ONCE = 64;

/**
 * Creates the file. `hashes` are in chunk order. Call `checkReceipts` first, and hold the user's shared lock. Throws a 409 refusal
 * with `missing` if chunks are not stored. Throws a 422 refusal if the total size is wrong, if the name is taken, or if the file
 * exists with other chunks or in another order.
 */
export async function commitFile(
  parts: Parts,
  session: UploadSession,
  hashes: string[],
): Promise<StoredFile> {
  const { tables, clock } = parts;
  const finished = await tables.files.get(session.fileId);
  if (finished) return sameAgain(finished, hashes);

  const chunks = await findWhole(parts, session, hashes);
  // If two open uploads have the same name, the first commit gets the name.
  const isUnique = findFolder(session.folderId)?.conflict === 'fail';
  const row = {
    id: session.fileId,
    userId: session.userId,
    folderId: session.folderId,
    name: session.fileName,
    sizeBytes: session.sizeBytes,
    chunks,
    createdAt: clock.now(),
  };
  const file = await tables.files.add(session.fileId, row, isUnique ? ['name', 'folderId'] : []);
  if (!file) throw new Refusal(409, 'name_taken', 'another upload has taken this name meanwhile');
  await tables.sessions.update(session.id, (before) =>
    before ? { ...before, phase: 'finished' } : undefined,
  );
  parts.usage.close(session.id, session.userId, 'finished');
  return sameAgain(file, hashes);
}

/** Finds the chunks of the file. Throws the refusals of `commitFile` for missing chunks and a wrong total size. */
async function findWhole(parts: Parts, session: UploadSession, hashes: string[]): Promise<StoredChunk[]> {
  const chunks = await findChunks(parts, session, hashes);
  const total = chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total !== session.sizeBytes) {
    const said = `the chunks have ${total} bytes, the file was said to have ${session.sizeBytes}`;
    throw new Refusal(422, 'wrong_size', said);
  }
  return chunks;
}

/**
 * Compares `fileHash` with the SHA-256 of the stored bytes. This can take hours, so don't hold a lock of the user. Reads no more
 * than the client has sent, one file of a user at a time, until `gone` aborts. Throws a 422 refusal if the hash is wrong or a chunk
 * is repeated, and the refusals of `findWhole`.
 */
export async function checkFileHash(
  parts: Parts,
  session: UploadSession,
  hashes: string[],
  fileHash: string,
  gone: AbortSignal,
): Promise<void> {
  if (new Set(hashes).size < hashes.length) {
    throw new Refusal(422, 'repeated_chunk', 'file_hash is not checked if a chunk is repeated: leave it out');
  }
  await parts.locks.exclusive(`file-hash ${session.userId}`, async () => {
    gone.throwIfAborted();
    const chunks = await findWhole(parts, session, hashes);
    const sha256 = createHash('sha256');
    try {
      for await (const bytes of parts.storage.read(session.userId, chunks, 0, session.sizeBytes)) {
        gone.throwIfAborted();
        sha256.update(bytes);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new Refusal(410, 'gone', 'the upload has ended, and its chunks were deleted');
    }
    if (sha256.digest('hex') !== fileHash) {
      throw new Refusal(422, 'wrong_file_hash', 'the stored bytes have another hash than file_hash');
    }
  });
}

function sameAgain(file: StoredFile, hashes: string[]): StoredFile {
  const isSame =
    file.chunks.length === hashes.length && file.chunks.every(({ hash }, index) => hash === hashes[index]);
  if (!isSame) throw new Refusal(422, 'finished', 'the upload was finished with other chunks');
  return file;
}

/** Checks that `receipts` has one receipt of this session for each hash, in the same order. Throws a 400 refusal otherwise. */
export async function checkReceipts(
  { seal }: Parts,
  session: UploadSession,
  hashes: string[],
  receipts: string[],
): Promise<void> {
  if (receipts.length !== hashes.length) {
    throw new Refusal(400, 'invalid_request', 'there must be one receipt for each hash');
  }
  for (let at = 0; at < hashes.length; at += AT_ONCE) {
    const batch = hashes.slice(at, at + AT_ONCE);
    const checks = batch.map((hash, index) => seal.isReceipt(receipts[at + index] ?? '', session.id, hash));
    const wrong = (await Promise.all(checks)).indexOf(false);
    if (wrong >= 0) {
      throw new Refusal(400, 'wrong_receipt', `receipt ${at + wrong} is not of this session and chunk`);
    }
  }
}

async function findChunks(
  { storage }: Parts,
  session: UploadSession,
  hashes: string[],
): Promise<StoredChunk[]> {
  const sizes = new Map<string, number>();
  const missing: string[] = [];
  for (const hash of new Set(hashes)) {
    const sizeBytes = await storage.chunkSize(session.userId, hash);
    if (sizeBytes === undefined) missing.push(hash);
    else sizes.set(hash, sizeBytes);
  }
  if (missing.length > 0) {
    throw new Refusal(409, 'missing', `${missing.length} chunks are not stored`, { more: { missing } });
  }
  return hashes.map((hash) => ({ hash, sizeBytes: sizes.get(hash) ?? 0 }));
}

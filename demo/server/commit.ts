// Completes an upload: checks the receipts, that all chunks are stored, and the total size, then creates the file as a list of
// chunks. A repeated commit with the same chunks gets the same response.
import { createHash } from 'node:crypto';
import { findFolder, nameKey } from './folders.ts';
import type { Parts, StoredFile, UploadSession } from './parts.ts';
import { Refusal } from './refusal.ts';
import type { StoredChunk } from './storage.ts';

const AT_ONCE = 64;

/**
 * Creates the file. `hashes` are in chunk order. `fileHash` is the SHA-256 of the whole file, if the browser sent it. Call
 * `checkReceipts` first, and hold the user's shared lock. Throws a 409 refusal with `missing` if chunks are not stored. Throws a
 * 422 refusal if the total size or `fileHash` is wrong, if the name is taken, or if the file exists with other chunks or in another
 * order.
 */
export async function commitFile(
  parts: Parts,
  session: UploadSession,
  hashes: string[],
  fileHash?: string,
): Promise<StoredFile> {
  const { tables, clock } = parts;
  const finished = await tables.files.get(session.fileId);
  if (finished) return sameAgain(finished, hashes);

  const chunks = await wholeFile(parts, session, hashes, fileHash);
  await claimName(parts, session);
  const file = await tables.files.update(session.fileId, (row) =>
    row
      ? undefined
      : {
          id: session.fileId,
          userId: session.userId,
          folderId: session.folderId,
          name: session.fileName,
          sizeBytes: session.sizeBytes,
          chunks,
          createdAt: clock.now(),
        },
  );
  await tables.sessions.update(session.id, (row) => (row ? { ...row, phase: 'finished' } : undefined));
  if (!file) throw new Error('the file was not kept');
  parts.usage.close(session.id, session.userId, 'finished');
  return sameAgain(file, hashes);
}

/** Checks the stored chunks, the total size and `fileHash`, as `commitFile` does, without creating the file. */
export async function checkCommit(
  parts: Parts,
  session: UploadSession,
  hashes: string[],
  fileHash?: string,
): Promise<undefined> {
  await wholeFile(parts, session, hashes, fileHash);
}

async function wholeFile(
  parts: Parts,
  session: UploadSession,
  hashes: string[],
  fileHash: string | undefined,
): Promise<StoredChunk[]> {
  const chunks = await findChunks(parts, session, hashes);
  const total = chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total !== session.sizeBytes) {
    const said = `the chunks have ${total} bytes, the file was said to have ${session.sizeBytes}`;
    throw new Refusal(422, 'wrong_size', said);
  }
  if (fileHash !== undefined) {
    const sha256 = createHash('sha256');
    for await (const bytes of parts.storage.read(session.userId, chunks, 0, total)) sha256.update(bytes);
    if (sha256.digest('hex') !== fileHash) {
      throw new Refusal(422, 'wrong_file_hash', 'the stored bytes have another hash than file_hash');
    }
  }
  return chunks;
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

// If two open uploads have the same name, the first commit gets the name.
async function claimName({ tables }: Parts, session: UploadSession): Promise<void> {
  if (findFolder(session.folderId)?.conflict !== 'fail') return;
  const name = await tables.names.update(nameKey(session.folderId, session.fileName), (row) =>
    row ? undefined : { fileId: session.fileId },
  );
  if (name?.fileId !== session.fileId) {
    throw new Refusal(422, 'name_taken', 'another upload has taken this name meanwhile');
  }
}

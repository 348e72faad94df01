// Creates the demo file at the first start.
import { createHash } from 'node:crypto';
import { blake3 } from 'hash-wasm';
import type { Parts } from './parts.ts';
import { demoFile } from './seed.ts';

/** Stores the demo file, unless it exists. */
export async function plantDemoFile({ tables, storage, settings, clock }: Parts): Promise<void> {
  const { userId, folderId, name, text } = demoFile;
  const id = 'file_welcome';
  if (await tables.files.get(id)) return;
  const bytes = new TextEncoder().encode(text);
  const hash =
    settings.hash === 'blake3' ? await blake3(bytes) : createHash('sha256').update(bytes).digest('hex');
  const pieces = (async function* () {
    yield bytes;
  })();
  await storage.putChunk(userId, hash, pieces);
  const sizeBytes = bytes.byteLength;
  const chunks = [{ hash, sizeBytes }];
  await tables.files.put(id, { id, userId, folderId, name, sizeBytes, chunks, createdAt: clock.now() });
}

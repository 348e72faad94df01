// The uploaded files: random bytes on disk, created once and kept in the system's folder for temporary files.
import { randomFillSync } from 'node:crypto';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PIECE_BYTES = 8 * 2 ** 20;
const MARK_EVERY_BYTES = 2 ** 20;

/**
 * Returns the paths of `count` files of `sizeBytes` each, and creates missing ones. A sparse file has only a few random bytes in
 * each MiB, enough to make all chunks different.
 */
export function makeFiles({ count, sizeBytes, sparse = false }) {
  const folder = join(tmpdir(), 'secure-uploader-bench', `${sparse ? 'sparse' : 'random'}-${sizeBytes}`);
  mkdirSync(folder, { recursive: true });
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `file-${String(index).padStart(5, '0')}.bin`);
    if (!existsSync(path) || statSync(path).size !== sizeBytes) {
      const file = openSync(`${path}.new`, 'w');
      (sparse ? mark : fill)(file, sizeBytes);
      closeSync(file);
      renameSync(`${path}.new`, path);
    }
    return path;
  });
}

function fill(file, sizeBytes) {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, sizeBytes));
  for (let written = 0; written < sizeBytes; ) {
    randomFillSync(piece);
    written += writeSync(file, piece, 0, Math.min(piece.length, sizeBytes - written));
  }
}

function mark(file, sizeBytes) {
  ftruncateSync(file, sizeBytes);
  const bytes = Buffer.allocUnsafe(16);
  for (let at = 0; at + bytes.length <= sizeBytes; at += MARK_EVERY_BYTES) {
    writeSync(file, randomFillSync(bytes), 0, bytes.length, at);
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/**
 * Creates a folder in `parent`, which is deleted when the process of the test file ends. A hook of the test runner would delete it
 * too early if a `before` hook creates it, or while the processes that the file has started still use it.
 */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'secure-uploader-'));
  folders.push(folder);
  return folder;
}

import type { FileId } from '../core/types.ts';
import type { Uploader } from '../engine/uploader.ts';
import { pickFile } from './pick-file.ts';

/**
 * Resumes the upload with this id; without an id, all uploads. If the upload needs its file, opens the permission prompt or the
 * file picker; its input is in `root`. Call this function in a click or key handler.
 */
export async function resume(uploader: Uploader, root: Node, id?: FileId): Promise<void> {
  const { files } = uploader.snapshot;
  const waiting = files.find((file) => file.id === id && file.pauseReason === 'needs-file');
  if (!waiting) await uploader.resume(id);
  else if (!(await uploader.provide(waiting.id))) {
    const picked = await pickFile(root);
    if (picked) await uploader.provide(waiting.id, picked);
  }
}

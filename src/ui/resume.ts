// Going on with a file, also with one of an earlier visit: the browser, or the person, is asked for its content first.

import type { FileId } from '../core/types.ts';
import type { Uploader } from '../engine/uploader.ts';
import { pickFile } from './pick-file.ts';

/** Goes on with one file or all. To be called while a click or a key press lasts. */
export async function resume(uploader: Uploader, id?: FileId): Promise<void> {
  const { files } = uploader.snapshot;
  const waiting = files.find((file) => file.id === id && file.pauseReason === 'needs-file');
  if (!waiting) await uploader.resume(id);
  else if (!(await uploader.provide(waiting.id))) {
    const picked = await pickFile();
    if (picked) await uploader.provide(waiting.id, picked);
  }
}

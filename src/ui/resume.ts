import type { FileId, FileSnapshot } from '../core/types.ts';
import type { Uploader } from '../engine/uploader.ts';
import { pickAgain } from './pick-file.ts';
import { folderOf } from './row-order.ts';

const needsFile = ({ pauseReason }: FileSnapshot): boolean => pauseReason === 'needs-file';

/**
 * Resumes the upload with this id; without an id, all uploads. If the upload needs its file, opens the permission prompt or the
 * file picker; its input is in `root`. Call this function in a click or key handler.
 */
export async function resume(uploader: Uploader, root: Node, id?: FileId): Promise<void> {
  const waitingFile = uploader.snapshot.files.find((file) => needsFile(file) && file.id === id);
  if (!waitingFile) await uploader.resume(id);
  else if (!(await uploader.provide(waitingFile.id))) {
    const [pickedFile] = await pickAgain(root, false);
    if (pickedFile) await uploader.provide(waitingFile.id, pickedFile);
  }
}

/** Gives the files of a folder that need it those of a folder that the user chooses. */
export async function resumeFolder(uploader: Uploader, root: Node, path: string): Promise<void> {
  const waitingFiles = uploader.snapshot.files.filter((file) => needsFile(file) && folderOf(file) === path);
  const [first] = waitingFiles;
  if (!first) return;
  const pickedFiles = await pickAgain(root, true);
  // Other files of the folder may be done, and would be uploaded again.
  const paths = new Set(waitingFiles.map(({ relativePath }) => relativePath));
  const missingFiles = pickedFiles.filter((file) => 'name' in file && paths.has(file.webkitRelativePath));
  if (missingFiles.length > 0) await uploader.addFiles(missingFiles);
  else if (pickedFiles[0]) await uploader.provide(first.id, pickedFiles[0]);
}

import type { Uploader } from '../engine/uploader.ts';
import { pickAgain } from './pick-file.ts';

/**
 * Resumes the upload with this id; without an id, all uploads. If the upload needs its file, opens the permission prompt or the
 * file picker; its input is in `root`. With the path of a folder, its uploads that need their files get them from a folder that the
 * user chooses. Call this function in a click or key handler.
 */
export async function resume(uploader: Uploader, root: Node, id = ''): Promise<void> {
  const isFolder = id.endsWith('/');
  const lost = uploader.snapshot.files.filter(
    (file) =>
      file.pauseReason === 'needs-file' && (isFolder ? file.relativePath.startsWith(id) : file.id === id),
  );
  const [first] = lost;
  if (!first) await uploader.resume(id || undefined);
  else if (isFolder || !(await uploader.provide(first.id))) {
    const picked = await pickAgain(root, isFolder);
    // Other files of the folder may be done, and would be uploaded again.
    const paths = new Set(isFolder ? lost.map(({ relativePath }) => relativePath) : []);
    const wanted = picked.filter((file) => 'name' in file && paths.has(file.webkitRelativePath));
    if (wanted.length > 0) await uploader.addFiles(wanted);
    else if (picked[0]) await uploader.provide(first.id, picked[0]);
  }
}

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The files below `folders` of `root` whose name matches `pattern`, as sorted paths relative to `root`. Missing folders are
 * ignored.
 */
export function filesUnder(root, folders, pattern) {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && pattern.test(entry.name))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(join(root, '/').length)),
    )
    .sort();
}

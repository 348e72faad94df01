import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the files below `folders` in `root` whose name matches `pattern`, as sorted paths relative to `root`. Ignores missing
 * folders and installed packages.
 */
export function filesUnder(root, folders, pattern) {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && pattern.test(entry.name))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(join(root, '/').length)),
    )
    .filter((path) => !path.includes('node_modules/'))
    .sort();
}

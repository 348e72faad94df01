import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files below `folders` of `root` whose name fits `pattern`, as paths from `root`, sorted. Missing folders have none. */
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

// What a file is called where its own name is taken. It knows names, not files.

import { UploaderError } from '../core/errors.ts';
import type { Calls } from '../core/types.ts';

/** So many names are tried before the person has to find one. */
const MOST_NAMES = 50;

/** The name to try after one that is taken: `report (2).pdf` after `report.pdf`, `report (3).pdf` after that; of a path, its end. */
export function nextName(name: string): string {
  const dot = name.lastIndexOf('.');
  const end = dot > name.lastIndexOf('/') + 1 ? dot : name.length;
  const stem = name.slice(0, end);
  const [, plain = stem, count = '1'] = /^(.+) \((\d{1,4})\)$/s.exec(stem) ?? [];
  return `${plain} (${Number(count) + 1})${name.slice(end)}`;
}

/** The path that is sent for a file: its own, with another name at its end where it has got one. */
export const pathUnder = (name: string, ownName: string, path: string): string =>
  name === ownName ? path : path.slice(0, path.lastIndexOf('/') + 1) + name;

/** Opens a session under the first name that is free; `onRenamed` hears which, where it is not the file's own. */
export function renaming(calls: Calls, onRenamed: (name: string) => void): Calls {
  return {
    ...calls,
    async openSession(input, signal) {
      for (let fileName = input.fileName, count = 1; ; fileName = nextName(fileName), count += 1) {
        try {
          const session = await calls.openSession({ ...input, fileName }, signal);
          if (count > 1) onRenamed(fileName.slice(fileName.lastIndexOf('/') + 1));
          return session;
        } catch (error) {
          const isTaken = error instanceof UploaderError && error.code === 'name-taken';
          if (!isTaken || count === MOST_NAMES) throw error;
        }
      }
    },
  };
}

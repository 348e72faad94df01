// Another name if the folder has a file with the same name (`on-conflict="rename"`).

import { UploaderError } from '../core/errors.ts';
import { nextName } from '../core/names.ts';
import type { Calls } from '../core/types.ts';
import { SessionLost } from './session-lost.ts';

/** Number of taken names after which the upload fails with `name-taken`. */
const MAX_NAMES = 50;

/** Names that running uploads use, with folder, in Unicode NFC as the service gets them, each with its upload. */
export type UsedNames = Map<string, object>;

const isTaken = (error: unknown): error is UploaderError =>
  error instanceof UploaderError && error.code === 'name-taken';

/**
 * Returns `calls` with an `openSession` that tries names until a name is free, and with a commit that needs a session with the next
 * name if another upload has taken the name in the meantime (`SessionLost`). Skips names that other uploads use now. Calls
 * `onRenamed` with the name if it is not the file's own.
 */
export function renaming(
  calls: Calls,
  onRenamed: (name: string) => void,
  upload: object,
  used: UsedNames,
): Calls {
  const { commit } = calls;
  let fileName = '';
  /** True if an earlier commit may have succeeded. The name may then be taken by this file. */
  let isUnsure = false;
  return {
    ...calls,
    async openSession(input, signal) {
      fileName ||= input.fileName;
      for (let count = 1; ; count += 1, fileName = nextName(fileName)) {
        const key = `${input.parentId}/${fileName}`.normalize();
        const owner = used.get(key) ?? upload;
        if (owner !== upload && count < MAX_NAMES) continue;
        used.set(key, owner);
        try {
          const session = await calls.openSession({ ...input, fileName }, signal);
          if (fileName !== input.fileName) onRenamed(fileName.slice(fileName.lastIndexOf('/') + 1));
          return session;
        } catch (error) {
          if (!isTaken(error) || count >= MAX_NAMES) throw error;
        }
      }
    },
    ...(commit && {
      commit: (...args) =>
        commit(...args).catch((error) => {
          isUnsure ||= !isTaken(error);
          if (isUnsure) throw error;
          fileName = nextName(fileName);
          throw new SessionLost(error);
        }),
    }),
  };
}

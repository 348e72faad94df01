// Another name if the folder has a file with the same name (`on-conflict="rename"`).

import { UploaderError } from '../core/errors.ts';
import { nextName } from '../core/names.ts';
import type { Session } from '../core/types.ts';
import type { RequestSession } from './upload-session.ts';

/** Number of taken names after which the upload fails with `name-taken`. */
const MAX_NAMES = 50;

/** Names that running uploads use, with folder, in Unicode NFC as the service gets them, each with its upload. */
export type UsedNames = Map<string, object>;

export interface Names {
  readonly used: UsedNames;
  /** The upload that uses the names. */
  readonly upload: object;
  /** Called with the name of the session if it is another one than before. */
  readonly onRenamed: (name: string) => void;
}

const isTaken = (error: unknown): boolean => error instanceof UploaderError && error.code === 'name-taken';

/**
 * Returns a function that requests a session and tries names until one is free, from `current` on; with `needsName`, from the name
 * after it on. Skips names that other uploads use now. When it is called again, it continues with the name that it tried last.
 */
export function withFreeName(
  open: (fileName: string) => Promise<Session>,
  { parentId, current, needsName }: { parentId: string; current: string; needsName: boolean },
  { used, upload, onRenamed }: Names,
): RequestSession {
  let fileName = needsName ? nextName(current) : current;
  return async () => {
    for (let count = 1; ; count += 1, fileName = nextName(fileName)) {
      const key = `${parentId}/${fileName}`.normalize();
      const owner = used.get(key) ?? upload;
      if (owner !== upload && count < MAX_NAMES) continue;
      used.set(key, owner);
      try {
        const session = await open(fileName);
        if (fileName !== current) onRenamed(fileName.slice(fileName.lastIndexOf('/') + 1));
        return session;
      } catch (error) {
        if (!isTaken(error) || count >= MAX_NAMES) throw error;
      }
    }
  };
}

// Folders and their access rights.
import { Refusal } from './refusal.ts';
import { type Folder, folders, rightOf, type User } from './seed.ts';

export function findFolder(id: string): Folder | undefined {
  return folders.find((known) => known.id === id);
}

/** Returns the folder. Throws a 404 refusal if the folder does not exist, and a 403 refusal if the user lacks the right. */
export function requireFolder(user: User, id: string, right: 'read' | 'write'): Folder {
  const folder = findFolder(id);
  if (!folder) throw new Refusal(404, 'not_found', 'no such folder');
  const has = rightOf(user, folder);
  if (has === 'none' || (right === 'write' && has !== 'write')) {
    throw new Refusal(403, 'forbidden', `${user.id} may not ${right} in ${folder.id}`);
  }
  return folder;
}

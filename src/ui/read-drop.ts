// Reads what was dropped or pasted: files, and folders with all that is in them. It knows nothing of rules or of the list.

import type { PickedFile } from '../core/types.ts';

/** What a drop held. */
export interface DropContent {
  readonly files: readonly PickedFile[];
  /** Folders without anything in them: they cannot be uploaded, and should not vanish silently. */
  readonly emptyFolderCount: number;
  readonly unreadableCount: number;
}

interface Findings {
  readonly files: PickedFile[];
  emptyFolderCount: number;
  unreadableCount: number;
  readonly onFound: (count: number) => void;
}

type WithHandle = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> };

/**
 * Everything in a drop, folders to their depth. Must be called in the event itself, since its data is gone afterwards.
 * `onFound` hears the number of files so far; it never rejects.
 */
export async function readDrop(data: DataTransfer, onFound: (count: number) => void): Promise<DropContent> {
  const findings: Findings = { files: [], emptyFolderCount: 0, unreadableCount: 0, onFound };
  const readers = [...data.items].filter((item) => item.kind === 'file').map((item) => grab(item));
  for (const read of readers) await read(findings);
  return findings;
}

/** Takes from the item what lives only as long as the event, and returns what reads it. */
function grab(item: WithHandle): (findings: Findings) => Promise<void> {
  const file = item.getAsFile();
  const entry = item.webkitGetAsEntry?.() ?? null;
  const handle = item.getAsFileSystemHandle?.().catch(() => null);
  return async (findings) => {
    const held = (await handle) ?? null;
    if (held?.kind === 'directory')
      await readFolder(held as FileSystemDirectoryHandle, `${held.name}/`, findings);
    else if (entry?.isDirectory) await readEntry(entry, '', findings);
    else if (file) found(findings, file, file.name, held ?? undefined);
  };
}

function found(findings: Findings, file: File, relativePath: string, handle?: FileSystemHandle): void {
  findings.files.push({
    file,
    relativePath,
    ...(handle ? { handle: handle as FileSystemFileHandle } : {}),
  });
  findings.onFound(findings.files.length);
}

async function readFolder(
  folder: FileSystemDirectoryHandle,
  path: string,
  findings: Findings,
): Promise<void> {
  let isEmpty = true;
  try {
    for await (const child of folder.values()) {
      isEmpty = false;
      if (child.kind === 'directory') {
        await readFolder(child as FileSystemDirectoryHandle, `${path}${child.name}/`, findings);
      } else await readHandle(child as FileSystemFileHandle, path, findings);
    }
  } catch {
    findings.unreadableCount++;
    return;
  }
  if (isEmpty) findings.emptyFolderCount++;
}

async function readHandle(handle: FileSystemFileHandle, path: string, findings: Findings): Promise<void> {
  try {
    found(findings, await handle.getFile(), path + handle.name, handle);
  } catch {
    findings.unreadableCount++;
  }
}

async function readEntry(entry: FileSystemEntry, path: string, findings: Findings): Promise<void> {
  try {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => {
        (entry as FileSystemFileEntry).file(resolve, reject);
      });
      found(findings, file, path + entry.name);
      return;
    }
    const children = await readChildren(entry as FileSystemDirectoryEntry);
    if (children.length === 0) findings.emptyFolderCount++;
    for (const child of children) await readEntry(child, `${path}${entry.name}/`, findings);
  } catch {
    findings.unreadableCount++;
  }
}

/** All children: a reader gives at most a hundred at a time, and says that it is done with an empty answer. */
async function readChildren(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return children;
    children.push(...batch);
  }
}

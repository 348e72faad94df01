// Reads dropped or pasted files and folders.

import type { PickedFile } from '../core/types.ts';

export interface DropContent {
  readonly files: readonly PickedFile[];
  /** Number of skipped empty folders, which cannot be uploaded. */
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
 * Reads all dropped files, including nested folders. Calls `onFound` with the number of files found so far. Never rejects. Call
 * this function synchronously in the event handler, because the browser clears the data afterwards.
 */
export async function readDrop(data: DataTransfer, onFound: (count: number) => void): Promise<DropContent> {
  const findings: Findings = { files: [], emptyFolderCount: 0, unreadableCount: 0, onFound };
  const readers = [...data.items].filter((item) => item.kind === 'file').map((item) => grab(item));
  for (const read of readers) await read(findings);
  return findings;
}

/** Gets the handles of an item, which is possible only during the event. Returns a function that reads the handles. */
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

/** Reads all children of a folder. A reader returns at most 100 children at a time (Chromium), and an empty list at the end. */
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

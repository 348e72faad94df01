// Reads dropped, pasted and picked files and folders.

import type { PickedFile, UnreadableFile } from '../core/types.ts';

export type FoundFile = PickedFile | UnreadableFile;

export interface DropContent {
  /** Files, and what could not be read: files, or folders that could not be read to the end. */
  readonly files: readonly FoundFile[];
  /** Number of skipped empty folders, which cannot be uploaded. */
  readonly emptyFolderCount: number;
}

interface Findings {
  readonly files: FoundFile[];
  emptyFolderCount: number;
  readonly onFound: (count: number) => void;
}

type OnFound = Findings['onFound'];
type WithHandle = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> };

/**
 * Reads all dropped files, including nested folders. Calls `onFound` with the number of files found so far. Never rejects. Call
 * this function synchronously in the event handler, because the browser clears the data afterwards.
 */
export const readDrop = (transfer: DataTransfer, onFound: OnFound): Promise<DropContent> => {
  const readers = [...transfer.items].filter((item) => item.kind === 'file').map((item) => grab(item));
  // Some programs promise files that they don't have.
  return readAll(readers.length > 0 ? readers : [async (findings) => addUnreadable(findings, '?')], onFound);
};

/** Reads the files of handles from the picker, like `readDrop`. */
export const readHandles = (
  handles: readonly FileSystemFileHandle[],
  onFound: OnFound,
): Promise<DropContent> =>
  readAll(
    handles.map((handle) => (findings) => readHandle(handle, '', findings)),
    onFound,
  );

/** Takes the files of an input, like `readDrop`. */
export const readInput = (files: readonly File[], onFound: OnFound): Promise<DropContent> =>
  readAll(
    files.map((file) => async (findings) => addFile(findings, file, file.webkitRelativePath || file.name)),
    onFound,
  );

/** Folders of systems: attributes of files, thumbnails, and trash. */
const SYSTEM_FOLDERS =
  '__MACOSX|\\.Spotlight-V100|\\.Trash[^/]*|\\.TemporaryItems|\\.fseventsd|@eaDir|' +
  '\\$RECYCLE\\.BIN|System Volume Information';
/** Files that systems add to folders: thumbnails, settings of folders, attributes of files, and trash. */
const OF_SYSTEM = new RegExp(
  '(^|/)(\\.DS_Store|\\.localized|Icon\\r|\\._[^/]*|(eh)?Thumbs\\.db|desktop\\.ini|' +
    `(${SYSTEM_FOLDERS})/.*)$`,
  'i',
);

async function readAll(
  readers: readonly ((findings: Findings) => Promise<void>)[],
  onFound: OnFound,
): Promise<DropContent> {
  const findings: Findings = { files: [], emptyFolderCount: 0, onFound };
  for (const readItem of readers) await readItem(findings);
  return findings;
}

/** Leaves out files of the system, unless the user chose no other files. A folder that has no others is empty. */
export function withoutSystemFiles({ files, emptyFolderCount }: DropContent): DropContent {
  const userFiles = files.filter(({ relativePath }) => !OF_SYSTEM.test(relativePath));
  if (userFiles.length > 0) return { files: userFiles, emptyFolderCount };
  const isFolder = files.some(({ relativePath }) => relativePath.includes('/'));
  return isFolder
    ? { files: userFiles, emptyFolderCount: emptyFolderCount + 1 }
    : { files, emptyFolderCount };
}

/** Gets the handles of an item, which is possible only during the event. Returns a function that reads the handles. */
function grab(item: WithHandle): (findings: Findings) => Promise<void> {
  const file = item.getAsFile();
  const entry = item.webkitGetAsEntry?.() ?? null;
  const handle = item.getAsFileSystemHandle?.().catch(() => null);
  return async (findings) => {
    if (file && !entry?.isDirectory)
      addFile(findings, file, file.name, (await handle) as FileSystemFileHandle);
    else if (entry) await readEntry(await open(entry, handle), '', findings);
    else addUnreadable(findings, (await handle)?.name ?? '?');
  };
}

function addFile(
  findings: Findings,
  file: File,
  relativePath: string,
  handle?: FileSystemFileHandle | null,
): void {
  findings.files.push({ file, relativePath, ...(handle && { handle }) });
  findings.onFound(findings.files.length);
}

const addUnreadable = ({ files }: Findings, relativePath: string): void => void files.push({ relativePath });

async function readHandle(handle: FileSystemFileHandle, path: string, findings: Findings): Promise<void> {
  try {
    addFile(findings, await handle.getFile(), path + handle.name, handle);
  } catch {
    addUnreadable(findings, path + handle.name);
  }
}

/** An entry with its handle, and its file; without file for a folder, and for a file that cannot be read. */
interface Opened {
  readonly entry: FileSystemEntry;
  readonly handle: FileSystemHandle | null | undefined;
  readonly file: File | undefined;
}

async function open(
  entry: FileSystemEntry,
  handle: Promise<FileSystemHandle | null> | undefined,
): Promise<Opened> {
  const file = new Promise<File>((resolve, reject) => {
    if (entry.isFile) (entry as FileSystemFileEntry).file(resolve, reject);
    else reject();
  });
  // `readEntry` lists a file that cannot be read as lost.
  return { entry, file: await file.catch(() => undefined), handle: await handle };
}

async function readEntry({ entry, handle, file }: Opened, parent: string, findings: Findings): Promise<void> {
  const path = parent + entry.name;
  if (file) addFile(findings, file, path, handle as FileSystemFileHandle);
  else if (entry.isFile) addUnreadable(findings, path);
  else
    await readFolder(entry as FileSystemDirectoryEntry, `${path}/`, findings, handle).catch(() =>
      addUnreadable(findings, `${path}/`),
    );
}

/**
 * Number of files that are opened at once. Chromium handles all answers that are ready in one task, and each takes up to 0.4 ms.
 */
const AT_ONCE = 32;

/**
 * Reads a folder by its entries: Chromium's handles leave out names like `aux.h` or `a.url`. A reader returns a part of the
 * children at a time, and an empty list at the end.
 */
async function readFolder(
  folder: FileSystemDirectoryEntry,
  path: string,
  findings: Findings,
  handle: Opened['handle'],
): Promise<void> {
  const reader = folder.createReader();
  const handles = handle as FileSystemDirectoryHandle | null | undefined;
  for (let isEmpty = true; ; isEmpty = false) {
    const children = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    for (let at = 0; at < children.length; at += AT_ONCE) {
      const openedEntries = children.slice(at, at + AT_ONCE).map((child) => {
        const kind = child.isFile ? 'getFileHandle' : 'getDirectoryHandle';
        return open(
          child,
          handles?.[kind](child.name).catch(() => null),
        );
      });
      for (const child of openedEntries) await readEntry(await child, path, findings);
    }
    if (children.length > 0) continue;
    if (isEmpty) findings.emptyFolderCount++;
    return;
  }
}

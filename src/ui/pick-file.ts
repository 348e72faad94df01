// Opens the browser's file picker. Call the functions in a click or key handler.

import { rulesOf } from '../core/names.ts';
import type { FoundFile } from './read-drop.ts';
import { readHandles } from './read-drop.ts';

/** Settings that decide what the user can choose, and how. `accept` is as in `<input accept>`. */
export interface PickOptions {
  readonly multiple?: boolean;
  readonly accept?: string | undefined;
  /** Nothing is saved, so handles have no use. */
  readonly noResume?: boolean;
  /** Only an input opens the camera. */
  readonly capture?: string | undefined;
}

interface PickerGlobal {
  readonly showOpenFilePicker?: (options: object) => Promise<readonly FileSystemFileHandle[]>;
}

/**
 * Lets the user choose files. Resolves with their handles, which can be saved to read the files again after a reload. Resolves with
 * an empty list if the user cancels, or if the picker is already open. Resolves with `undefined` if an input has to be used: only
 * Chromium has this picker, and not in cross-origin frames.
 */
export async function pickHandles(
  { multiple = false, accept = '', noResume, capture }: PickOptions,
  page: object | null = globalThis,
): Promise<readonly FileSystemFileHandle[] | undefined> {
  const picker = page as PickerGlobal | null;
  if (!picker?.showOpenFilePicker || noResume || capture) return undefined;
  try {
    return await picker.showOpenFilePicker({ multiple, types: typesOf(accept) });
  } catch (error) {
    const { name, message } = error as Error;
    // `NotAllowedError` has two causes: a policy forbids the picker, or it is already open ("already active").
    const isForbidden = /^(Security|NotAllowed|Type)Error$/.test(name) && !/active/.test(message);
    return isForbidden ? undefined : [];
  }
}

/**
 * Lets the user choose one file, or the files of a folder; none if the user cancels. `root` contains an input while its picker is
 * open.
 */
export async function pickAgain(root: Node, isFolder = false): Promise<readonly (FoundFile | File)[]> {
  const document = root.ownerDocument as Document;
  const handles = isFolder ? undefined : await pickHandles({}, document.defaultView);
  if (handles) return (await readHandles(handles, () => undefined)).files;
  return new Promise((resolve) => {
    const input = document.createElement('input');
    input.type = 'file';
    input.webkitdirectory = isFolder;
    input.hidden = true;
    const end = (): void => {
      input.remove();
      resolve([...(input.files ?? [])]);
    };
    input.addEventListener('change', end);
    input.addEventListener('cancel', end);
    // Not a click of the user.
    input.addEventListener('click', (event) => event.stopPropagation());
    root.appendChild(input);
    input.click();
  });
}

/** Converts `accept` for the picker. The picker requires a MIME type for file extensions, but ignores the value of this type. */
function typesOf(accept: string): readonly { accept: Record<string, string[]> }[] {
  const names = rulesOf(accept);
  const types = names.filter((name) => name.includes('/')).map((type) => [type, []]);
  const extensions = names.filter((name) => name.startsWith('.'));
  const pickerTypes = [
    ...types,
    ...(extensions.length > 0 ? [['application/octet-stream', extensions]] : []),
  ];
  return pickerTypes.length > 0 ? [{ accept: Object.fromEntries(pickerTypes) }] : [];
}

// Opens the browser's file picker. Call the functions in a click or key handler.

import { rulesOf } from '../core/names.ts';
import type { FoundFile } from './read-drop.ts';
import { readHandles } from './read-drop.ts';

/** Options that restrict what the user can choose. `accept` is as in `<input accept>`. */
export interface PickOptions {
  readonly multiple?: boolean;
  readonly accept?: string | undefined;
}

interface PickerGlobal {
  readonly showOpenFilePicker?: (options: object) => Promise<readonly FileSystemFileHandle[]>;
}

/**
 * Lets the user choose files. Resolves with their handles, which can be saved to read the files again after a reload. Resolves with
 * an empty list if the user cancels, or if the picker is already open. Resolves with `undefined` if the picker is not available:
 * only Chromium has this picker, and not in cross-origin frames.
 */
export async function pickHandles(
  { multiple = false, accept = '' }: PickOptions,
  page: object | null = globalThis,
): Promise<readonly FileSystemFileHandle[] | undefined> {
  const picker = page as PickerGlobal | null;
  if (!picker?.showOpenFilePicker) return undefined;
  try {
    return await picker.showOpenFilePicker({ multiple, types: typesOf(accept) });
  } catch (error) {
    const { name, message } = error as Error;
    // `NotAllowedError` has two causes: a policy forbids the picker, or it is already open ("already active").
    const isForbidden = /^(Security|NotAllowed|Type)Error$/.test(name) && !/active/.test(message);
    return isForbidden ? undefined : [];
  }
}

/** Lets the user choose one file; `undefined` if the user cancels. `root` contains an input while its picker is open. */
export async function pickFile(root: Node): Promise<FoundFile | File | undefined> {
  const document = root.ownerDocument as Document;
  const handles = await pickHandles({}, document.defaultView);
  if (handles) return (await readHandles(handles, () => undefined)).files[0];
  return new Promise((resolve) => {
    const input = document.createElement('input');
    input.type = 'file';
    input.hidden = true;
    const end = (): void => {
      input.remove();
      resolve(input.files?.[0]);
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
  const all = [...types, ...(extensions.length > 0 ? [['application/octet-stream', extensions]] : [])];
  return all.length > 0 ? [{ accept: Object.fromEntries(all) }] : [];
}

// Opens the browser's file picker. Call the functions in a click or key handler.

import type { PickedFile } from '../core/types.ts';

/** Options that restrict what the user can choose. `accept` is as in `<input accept>`. */
export interface PickOptions {
  readonly multiple?: boolean;
  readonly accept?: string | undefined;
}

interface PickerGlobal {
  readonly showOpenFilePicker?: (options: object) => Promise<readonly FileSystemFileHandle[]>;
}

/**
 * Lets the user choose files. Resolves with the files and their handles, which can be saved to read the files again after a reload.
 * Resolves with an empty list if the user cancels. Resolves with `undefined` if the picker is not available: only Chromium has this
 * picker, and not in cross-origin frames.
 */
export async function pickHandles({
  multiple = false,
  accept = '',
}: PickOptions = {}): Promise<readonly PickedFile[] | undefined> {
  const { showOpenFilePicker } = globalThis as PickerGlobal;
  if (!showOpenFilePicker) return undefined;
  try {
    const handles = await showOpenFilePicker({ multiple, types: typesOf(accept) });
    return await Promise.all(
      handles.map(async (handle) => ({ file: await handle.getFile(), relativePath: handle.name, handle })),
    );
  } catch (error) {
    return error instanceof DOMException && error.name === 'AbortError' ? [] : undefined;
  }
}

/** Lets the user choose one file. Resolves with `undefined` if the user cancels. */
export async function pickFile(): Promise<PickedFile | File | undefined> {
  const held = await pickHandles();
  if (held) return held[0];
  return new Promise((resolve) => {
    const input = document.createElement('input');
    input.type = 'file';
    input.addEventListener('change', () => resolve(input.files?.[0]));
    input.addEventListener('cancel', () => resolve(undefined));
    input.click();
  });
}

/** Converts `accept` for the picker. The picker requires a MIME type for file extensions, but ignores the value of this type. */
function typesOf(accept: string): readonly { accept: Record<string, string[]> }[] {
  const names = accept.split(',').map((name) => name.trim());
  const types = names.filter((name) => name.includes('/')).map((type) => [type, []]);
  const extensions = names.filter((name) => name.startsWith('.'));
  const all = [...types, ...(extensions.length > 0 ? [['application/octet-stream', extensions]] : [])];
  return all.length > 0 ? [{ accept: Object.fromEntries(all) }] : [];
}

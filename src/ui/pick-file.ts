// Opens the browser's file picker. All functions need a user gesture.

import type { PickedFile } from '../core/types.ts';

/** Restrictions on the choice; `accept` as in `<input accept>`. */
export interface PickOptions {
  readonly multiple?: boolean;
  readonly accept?: string | undefined;
}

interface PickerGlobal {
  readonly showOpenFilePicker?: (options: object) => Promise<readonly FileSystemFileHandle[]>;
}

/**
 * Returns files with handles, which allow reading them again after a restart. Returns an empty list if the
 * user cancels, and `undefined` if the picker is not available (other browsers, or frames of another site).
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

/** Returns one file, or `undefined` if the user cancels. */
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

/** The picker requires a MIME type for extensions but ignores which one. */
function typesOf(accept: string): readonly { accept: Record<string, string[]> }[] {
  const names = accept.split(',').map((name) => name.trim());
  const types = names.filter((name) => name.includes('/')).map((type) => [type, []]);
  const extensions = names.filter((name) => name.startsWith('.'));
  const all = [...types, ...(extensions.length > 0 ? [['application/octet-stream', extensions]] : [])];
  return all.length > 0 ? [{ accept: Object.fromEntries(all) }] : [];
}

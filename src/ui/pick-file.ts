// Asks the person for files, in the browser's own picker. It knows nothing of what the files are for. To be called while a click
// or a key press lasts.

import type { PickedFile } from '../core/types.ts';

/** What may be picked; `accept` as an input has it. */
export interface PickOptions {
  readonly multiple?: boolean;
  readonly accept?: string | undefined;
}

interface PickerGlobal {
  readonly showOpenFilePicker?: (options: object) => Promise<readonly FileSystemFileHandle[]>;
}

/**
 * Files with their handles, by which they can be read again after a restart: none where the person chose none, `undefined` where the
 * browser has no such picker, or not here (a frame of another site).
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

/** One file; `undefined` where none was chosen. */
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

/** The picker wants extensions below a type; below which one makes no difference to it. */
function typesOf(accept: string): readonly { accept: Record<string, string[]> }[] {
  const names = accept.split(',').map((name) => name.trim());
  const types = names.filter((name) => name.includes('/')).map((type) => [type, []]);
  const extensions = names.filter((name) => name.startsWith('.'));
  const all = [...types, ...(extensions.length > 0 ? [['application/octet-stream', extensions]] : [])];
  return all.length > 0 ? [{ accept: Object.fromEntries(all) }] : [];
}

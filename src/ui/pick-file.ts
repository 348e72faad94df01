// Asks the person for one file, in the browser's own picker. It knows nothing of what the file is for.

/** Resolves with the file, or `undefined` where none was chosen. To be called while a click or a key press lasts. */
export function pickFile(): Promise<File | undefined> {
  return new Promise((resolve) => {
    const input = document.createElement('input');
    input.type = 'file';
    input.addEventListener('change', () => resolve(input.files?.[0]));
    input.addEventListener('cancel', () => resolve(undefined));
    input.click();
  });
}

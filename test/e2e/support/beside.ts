// A page with the widget beside other things, and the real clipboard.

import type { Page } from 'playwright';
import { filesOf } from './transfer.ts';
import type { World } from './world.ts';

/** Opens a page with the widget after the HTML `beside`, and with the HTML `inside` in the widget. */
export async function openBeside(
  world: World,
  beside: string,
  { attributes = 'manual', inside = '' } = {},
): Promise<Page> {
  const widget = world.elementWith(attributes).replace('</', `${inside}</`);
  return world.show('/beside.html', beside + widget);
}

export const namesOf = async (page: Page): Promise<string[]> => (await filesOf(page)).map(({ name }) => name);

/** Puts a picture on the clipboard, and a text of another type, such as `text/plain`, if there is one. */
export const copyPicture = (page: Page, text = '', type = 'text/plain'): Promise<void> =>
  page.evaluate(
    async ([text = '', type = '']) => {
      const canvas = new OffscreenCanvas(2, 2);
      canvas.getContext('2d')?.fillRect(0, 0, 2, 2);
      const png = await canvas.convertToBlob({ type: 'image/png' });
      const words = { [type]: new Blob([text], { type }) };
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': png, ...(text && words) })]);
    },
    [text, type],
  );

/** Presses Ctrl+V. Resolves with the number of files that this added. */
export async function paste(page: Page): Promise<number> {
  const { length } = await filesOf(page);
  await page.evaluate(() => {
    const pasted = new Promise((resolve) => {
      // After the listeners of the widget.
      const onPaste = (event: Event): unknown => setTimeout(() => resolve(event.defaultPrevented));
      addEventListener('paste', onPaste, { capture: true, once: true });
    });
    Object.assign(globalThis, { pasted });
  });
  await page.keyboard.press('Control+V');
  const isPrevented = await page.evaluate(
    () => (globalThis as unknown as { pasted: Promise<boolean> }).pasted,
  );
  if (isPrevented)
    await page.waitForFunction(
      (length) => (document.querySelector('secure-uploader')?.snapshot.files.length ?? 0) > length,
      length,
    );
  return (await filesOf(page)).length - length;
}

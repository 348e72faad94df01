// Helpers that inspect elements, and pick and drop files.

import { oneEvent } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import '../../src/define.ts';
import type { SecureUploaderEvents } from '../../src/ui/event-map.ts';
import { waits } from '../support/waits.ts';

/** Resolves with the next event named `name`. Call this function before the action that causes the event. */
export const nextEvent = <K extends keyof SecureUploaderEvents>(
  element: SecureUploader,
  name: K,
): Promise<SecureUploaderEvents[K]> =>
  oneEvent(element, name) as Promise<unknown> as Promise<SecureUploaderEvents[K]>;

/** Calls `look` before each frame until `look` returns a value, and resolves with that value. */
export async function shown<T>(look: () => T | null | undefined | false): Promise<T> {
  const says = (): string => `a frame with ${look}`;
  waits.add(says);
  try {
    for (;;) {
      const found = look();
      if (found) return found;
      await new Promise(requestAnimationFrame);
    }
  } finally {
    waits.delete(says);
  }
}

type Rooted = { readonly renderRoot: HTMLElement | DocumentFragment };

export const all = <T extends HTMLElement = HTMLElement>({ renderRoot }: Rooted, selector: string): T[] => [
  ...renderRoot.querySelectorAll<T>(selector),
];

export function one<T extends HTMLElement = HTMLElement>({ renderRoot }: Rooted, selector: string): T {
  const found = renderRoot.querySelector<T>(selector);
  if (!found) throw new Error(`there is no ${selector}`);
  return found;
}

/** True for a fact, or a part of one, that doesn't fit in its line. */
export function isLeftOut(part: Element): boolean {
  const line = part.closest('.facts')?.getBoundingClientRect();
  return line !== undefined && part.getBoundingClientRect().top >= line.bottom - 1;
}

/** Returns the text of the widget, with single spaces. */
export const textOf = ({ renderRoot }: Rooted): string =>
  (renderRoot.querySelector('.base')?.textContent ?? '').replace(/\s+/g, ' ').trim();

/** Returns the button named `name`; throws if there is none. */
export function button(host: Rooted, name: string): HTMLButtonElement {
  const found = all(host, 'button').find(
    (each) => (each.getAttribute('aria-label') ?? (each.title || each.textContent?.trim())) === name,
  );
  if (!found) throw new Error(`there is no button "${name}"`);
  return found as HTMLButtonElement;
}

/** Creates a text file with unique content. */
export const textFile = (name: string, type = 'text/plain'): File =>
  new File([`${name} ${crypto.randomUUID()}`], name, { type });

export function transferOf(...files: File[]): DataTransfer {
  const data = new DataTransfer();
  for (const file of files) data.items.add(file);
  return data;
}

/** Creates a drag event like those of the browser. */
export const dragEvent = (type: string, dataTransfer: DataTransfer, more: DragEventInit = {}): DragEvent =>
  new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true, composed: true, ...more });

/** Picks files as the browser's dialog does. */
export function pick(element: SecureUploader, ...files: File[]): void {
  const input = one<HTMLInputElement>(element, '#files');
  input.files = transferOf(...files).files;
  input.dispatchEvent(new Event('change'));
}

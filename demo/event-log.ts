// Lists the element's events, newest first. Consecutive progress events of a file share one line.

import type { SecureUploader, SecureUploaderEventMap } from 'secure-uploader';

/** Names of all events of the element, in the order of an upload. */
export const EVENT_NAMES = Object.keys({
  'file-add': true,
  'file-added': true,
  'file-rejected': true,
  'rejections-dismissed': true,
  'file-removed': true,
  'file-moved': true,
  'file-renamed': true,
  'upload-started': true,
  'upload-progress': true,
  'upload-paused': true,
  'upload-resumed': true,
  'upload-completed': true,
  'upload-failed': true,
  'upload-canceled': true,
  'uploads-finished': true,
  'chunk-hashed': true,
  'chunk-uploaded': true,
  'auth-redirect': true,
  'auth-required': true,
  'auth-challenged': true,
  'auth-changed': true,
  'auth-failed': true,
  'signed-in': true,
  'signed-out': true,
} satisfies Record<Exclude<keyof SecureUploaderEventMap, keyof HTMLElementEventMap>, true>);
const LIMIT = 200;

/** Adds every event of the element to `list`. */
export function logEvents(element: SecureUploader, list: HTMLElement): void {
  let last: { key: string; item: HTMLElement } | undefined;
  for (const name of EVENT_NAMES) {
    element.addEventListener(name, (event) => {
      const { detail } = event as CustomEvent<{ readonly id?: string }>;
      const key = `${name} ${detail.id ?? ''}`;
      const item = lineOf(name, detail);
      if (name === 'upload-progress' && last?.key === key) last.item.replaceWith(item);
      else list.prepend(item);
      last = { key, item };
      while (list.childElementCount > LIMIT) list.lastElementChild?.remove();
    });
  }
}

function lineOf(name: string, detail: object): HTMLElement {
  const line = document.createElement('details');
  const summary = document.createElement('summary');
  const time = Object.assign(document.createElement('time'), {
    textContent: new Date().toLocaleTimeString('en-GB'),
  });
  const title = Object.assign(document.createElement('b'), { textContent: name });
  const short = Object.assign(document.createElement('span'), { textContent: JSON.stringify(detail) });
  const text = Object.assign(document.createElement('pre'), { textContent: JSON.stringify(detail, null, 2) });
  summary.append(time, title, short);
  line.append(summary, text);
  return line;
}

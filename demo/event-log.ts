// Lists the element's events, newest first. Consecutive progress events of a file share one line.

import type { SecureUploader } from 'secure-uploader';

const NAMES = [
  'file-add',
  'file-added',
  'file-rejected',
  'rejections-dismissed',
  'file-removed',
  'file-moved',
  'file-renamed',
  'upload-started',
  'upload-progress',
  'upload-paused',
  'upload-resumed',
  'upload-completed',
  'upload-failed',
  'upload-canceled',
  'uploads-finished',
  'chunk-hashed',
  'chunk-uploaded',
  'auth-redirect',
  'auth-required',
  'auth-challenged',
  'auth-changed',
  'auth-failed',
  'signed-in',
  'signed-out',
];
const LIMIT = 200;

/** Adds every event of the element to `list`. */
export function logEvents(element: SecureUploader, list: HTMLElement): void {
  let last: { key: string; item: HTMLElement } | undefined;
  for (const name of NAMES) {
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

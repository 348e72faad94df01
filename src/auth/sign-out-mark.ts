// The mark of a sign-out, which prevents silent sign-in until the next sign-in.

import type { Settings } from '../core/config.ts';

type Service = Pick<Settings, 'baseUrl' | 'clientId'>;
const markOf = ({ baseUrl, clientId }: Service): string =>
  `secure-uploader:signed-out:${baseUrl} ${clientId}`;

/** Marks that could not be stored, because the storage is blocked or full. These marks are lost when the page is closed. */
const unstored = new Set<string>();

/** Returns true after a sign-out from this service in this browser, until the next sign-in. */
export function hasSignedOut(service: Service): boolean {
  const mark = markOf(service);
  try {
    return unstored.has(mark) || localStorage.getItem(mark) !== null;
  } catch {
    return false;
  }
}

/** Sets or removes the mark of a sign-out. */
export function markSignedOut(service: Service, isOut: boolean): void {
  const mark = markOf(service);
  unstored.delete(mark);
  try {
    if (isOut) localStorage.setItem(mark, '1');
    else localStorage.removeItem(mark);
  } catch {
    if (isOut) unstored.add(mark);
  }
}

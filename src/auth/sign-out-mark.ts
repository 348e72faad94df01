// The mark of sign-outs. It prevents silent sign-in until the next sign-in. With this mark, a page that comes back from the
// back/forward cache detects that a user has signed out meanwhile.

import type { Settings } from '../core/config.ts';

type Service = Pick<Settings, 'baseUrl' | 'clientId'>;
const nameOf = ({ baseUrl, clientId }: Service): string =>
  `secure-uploader:signed-out:${baseUrl} ${clientId}`;

/** Marks that could not be stored, because the storage is blocked or full. These marks are lost when the page is closed. */
const unstored = new Map<string, number>();

/** Returns the number of sign-outs and of sign-ins after them. An odd number means that no user has signed in since. */
function read(service: Service): number {
  const name = nameOf(service);
  try {
    return unstored.get(name) ?? (Number(localStorage.getItem(name)) || 0);
  } catch {
    return 0;
  }
}

/** Returns the number of sign-outs from this service in this browser. */
export const signOutCount = (service: Service): number => Math.ceil(read(service) / 2);

/** Returns true after a sign-out from this service in this browser, until the next sign-in. */
export const hasSignedOut = (service: Service): boolean => read(service) % 2 === 1;

/** Records a sign-out (`isOut` is true), or the first sign-in after one. Other sign-ins change nothing. */
export function markSignedOut(service: Service, isOut: boolean): void {
  const name = nameOf(service);
  const count = read(service);
  const next = count + (count % 2) + Number(isOut);
  if (next === count) return;
  unstored.delete(name);
  try {
    localStorage.setItem(name, `${next}`);
  } catch {
    unstored.set(name, next);
  }
}

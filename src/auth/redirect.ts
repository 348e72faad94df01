// Redirect mode: the authorization request and its response in `sessionStorage`, while the user is on another page.

import type { Settings } from '../core/config.ts';
import { failed, record } from './post.ts';

/** Prefix of the keys of stored authorization requests. `callback.ts` has a copy, and adds the response as `params`. */
export const STORED = 'secure-uploader:redirect:';

/** An unchecked response, with the stored data of its authorization request. */
export interface Returned {
  readonly state: string;
  readonly stored: Readonly<Record<string, unknown>>;
}

/** Returns the URL of the callback page. Throws `bad-config` if this URL does not have the page's origin. */
export function readRedirectUri(settings: Settings): string {
  const url = new URL(settings.redirectUri ?? 'secure-uploader-callback.html', document.baseURI);
  if (url.origin !== location.origin) throw failed('bad-config');
  return url.href;
}

/** Returns the keys of the stored authorization requests; none if the storage is blocked. */
function storedKeys(): string[] {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(STORED));
  } catch {
    return [];
  }
}

/** Removes all stored authorization requests. */
export function dropTransactions(): void {
  for (const key of storedKeys()) sessionStorage.removeItem(key);
}

/**
 * Returns the response that the callback page has stored for a request of this owner. Removes request and response. Returns
 * `undefined` in a frame, where redirect mode does not work, and on the callback page itself, which is being left.
 */
export function takeReturn(owner: string): Returned | undefined {
  if (window.parent !== window) return undefined;
  for (const key of storedKeys()) {
    let stored: Returned['stored'] = {};
    try {
      stored = record(JSON.parse(sessionStorage.getItem(key) ?? ''));
    } catch {
      // An entry that cannot be read has no owner.
    }
    if (!stored.params || stored.owner !== owner || stored.page === performance.timeOrigin) continue;
    sessionStorage.removeItem(key);
    return { state: key.slice(STORED.length), stored };
  }
  return undefined;
}

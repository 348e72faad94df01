// Decides whether pages may see the id of an upload session.

import { toBase64Url } from '../core/base64-url.ts';
import type { Session } from '../core/types.ts';

/** Returns the spellings of a text that a service may have made a header of. */
function formsOf(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [text, encodeURIComponent(text), toBase64Url(bytes), hex].map((form) => form.toLowerCase());
}

/** Returns true if the header of the session, which is secret, may follow from the id: one is in the other, or it was computed. */
export function isIdSecret({ header, isDerived, sessionId }: Session): boolean {
  const given = header.toLowerCase();
  // In the alphabet of `toBase64Url`.
  const isIn = (form: string): boolean =>
    given.includes(form) || given.replaceAll('+', '-').replaceAll('/', '_').includes(form);
  return isDerived === true || sessionId.toLowerCase().includes(given) || formsOf(sessionId).some(isIn);
}

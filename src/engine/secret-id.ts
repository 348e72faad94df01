// Decides whether pages may see the id of an upload session.

import type { Session } from '../core/types.ts';

/** An id that is shorter may be in a header by chance, so that its events would differ from one upload to the next. */
const MIN_ID_LENGTH = 4;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Returns a text with one byte in each character. */
const bytesOf = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

/** Returns the spellings of a text that a service may have made a header of, except Base64. */
function formsOf(text: string): string[] {
  const hex = Array.from(bytesOf(text), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return [text, encodeURIComponent(text), hex].map((form) => form.toLowerCase());
}

/** Returns what the parts of a text are as Base64, in either alphabet, wherever the Base64 begins. */
function decodedParts(text: string): string[] {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  // Without a regular expression: the browser keeps the last text that one has matched.
  const parts = Array.from(standard, (letter) => (BASE64.includes(letter) ? letter : ' '))
    .join('')
    .split(' ');
  return parts.flatMap((part) =>
    [0, 1, 2, 3].map((start) => {
      const whole = part.slice(start);
      // One letter more has no whole byte.
      return atob(whole.length % 4 === 1 ? whole.slice(0, -1) : whole);
    }),
  );
}

/**
 * Returns true if the header of the session, which is secret, may follow from the id: one is in the other, plain or as the code of
 * the id, or the header was computed.
 */
export function isIdSecret({ header, isDerived, sessionId }: Session): boolean {
  if (isDerived === true || sessionId.length < MIN_ID_LENGTH) return true;
  const anyCase = header.toLowerCase();
  const id = bytesOf(sessionId);
  return (
    sessionId.toLowerCase().includes(anyCase) ||
    formsOf(sessionId).some((form) => anyCase.includes(form)) ||
    decodedParts(header).some((part) => part.includes(id))
  );
}

// Validates file names. File names are stored as text only, never used as paths on disk.
import { Refusal } from './refusal.ts';

const MAX_BYTES = 255;

/** Returns the name in Unicode NFC. Throws a 400 refusal if file systems cannot store the name. */
export function readFileName(value: unknown): string {
  const refuse = (why: string): Refusal => new Refusal(400, 'invalid_request', `file_name ${why}`);
  if (typeof value !== 'string') throw refuse('must be a string');
  if (/\p{Surrogate}/u.test(value)) throw refuse('is not well-formed');
  const name = value.normalize('NFC');
  if (name.trim() === '') throw refuse('is empty');
  if (name === '.' || name === '..') throw refuse('is a path');
  if (/[/\\\p{Cc}]/u.test(name)) throw refuse('has a separator or control character');
  if (new TextEncoder().encode(name).byteLength > MAX_BYTES) {
    throw refuse(`is longer than ${MAX_BYTES} bytes`);
  }
  return name;
}

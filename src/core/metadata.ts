// The metadata that a page gives to a file: a JSON object of limited size.

import type { Metadata } from './types.ts';

const MAX_BYTES = 4096;

/** Returns a copy of the value; `undefined` if the value is not a JSON object or is too large. */
export function copyOfMetadata(value: unknown): Metadata | undefined {
  try {
    const text = JSON.stringify(value);
    if (!text?.startsWith('{') || new TextEncoder().encode(text).length > MAX_BYTES) return undefined;
    return JSON.parse(text) as Metadata;
  } catch {
    return undefined;
  }
}

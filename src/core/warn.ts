// Warnings on the console for the developer of the page. Warnings contain no secrets.

import type { Warn } from './config.ts';

/** Writes a warning, with the errors that caused it. */
export const warnOnConsole = (message: string, ...thrown: unknown[]): void =>
  console.warn(`secure-uploader: ${message}`, ...thrown);

/** Returns a function that writes each message only once. */
export function warnOnce(warn: Warn = warnOnConsole): Warn {
  const warned = new Set<string>();
  return (message) => {
    if (warned.has(message)) return;
    warned.add(message);
    warn(message);
  };
}

/** Writes each message only once on this page. */
export const warnOnceHere: Warn = warnOnce();

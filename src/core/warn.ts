// What whoever wrote the page has to know, on the console: what is wrong with it, and what to do. Nothing secret is in it.

import type { Warn } from './config.ts';

/** Tells it each time, with what was thrown, if anything was. */
export const warnOnConsole = (message: string, ...thrown: unknown[]): void =>
  console.warn(`secure-uploader: ${message}`, ...thrown);

/** Tells each message once, for as long as what it gives is kept. */
export function warnOnce(warn: Warn = warnOnConsole): Warn {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    told.add(message);
    warn(message);
  };
}

/** Tells each message once on this page. */
export const warnOnceHere: Warn = warnOnce();

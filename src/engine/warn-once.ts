// What is wrong with the page's settings, for whoever wrote it.

import type { Warn } from '../core/config.ts';

const onConsole: Warn = (message) => console.warn(`secure-uploader: ${message}`);

/** Tells each message once. */
export function warnOnce(warn: Warn = onConsole): Warn {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    told.add(message);
    warn(message);
  };
}

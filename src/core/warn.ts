// Warnings on the console for the developer of the page. Warnings contain no secrets.

/** Reports a problem to the developer of the page. */
export type Warn = (message: string) => void;

/** Writes a warning and the errors that caused it to the console. */
export const warnOnConsole = (message: string, ...thrownValues: unknown[]): void =>
  console.warn(`secure-uploader: ${message}`, ...thrownValues);

/** Returns a function that passes each message to `warn` only once; with `kindOf`, only one message of each kind. */
export function warnOnce(warn: Warn = warnOnConsole, kindOf = (message: string): string => message): Warn {
  const warnedKinds = new Set<string>();
  return (message) => {
    const kind = kindOf(message);
    if (warnedKinds.has(kind)) return;
    warnedKinds.add(kind);
    warn(message);
  };
}

/** Writes each message to the console only once on this page. */
export const warnOnceHere: Warn = warnOnce();

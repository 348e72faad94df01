// Types of `webkit-driver.mjs` for the journeys, which are written in TypeScript.

/** Sends one WebDriver command to the browser. `path` is relative to the session. */
export type WebDriverCommand = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: a result is whatever the command says.
) => Promise<any>;

export function startWebKit(): Promise<{ openSession(): Promise<WebDriverCommand>; end(): void }>;

// Which addresses a page may set: https, or this very machine. It makes no request.

import { UploaderError } from './errors.ts';

/** True for `localhost`, `*.localhost`, `127.0.0.0/8` and `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

/** The base URL without its trailing slash. Throws `bad-config`. */
export function readBaseUrl(value: string | undefined): string {
  if (!value)
    throw new UploaderError('bad-config', 'base-url is not set: it is the address of the upload service');
  let url: URL;
  try {
    url = new URL(value, globalThis.document?.baseURI);
  } catch (cause) {
    throw new UploaderError('bad-config', `base-url "${value}" is no URL`, { cause });
  }
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  if (!isAllowed)
    throw new UploaderError(
      'bad-config',
      `base-url must be https (http on loopback only), not ${url.protocol}`,
    );
  if (url.username || url.password || url.search || url.hash) {
    throw new UploaderError('bad-config', 'base-url must have no user, query or fragment');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** The origin in a list of one, or none where it is no origin: then `warn` is told. */
export function readOrigin(value: string, warn: (message: string) => void): string[] {
  try {
    const { origin } = new URL(value);
    if (origin !== 'null') return [origin];
  } catch {
    // Told below, like an origin of no use.
  }
  warn(`upload-origins: "${value}" is no origin such as https://files.example; it is ignored.`);
  return [];
}

// Validates the URLs in settings: https, or http on loopback.

import { UploaderError } from './errors.ts';
import { isLoopback } from './loopback.ts';

/** Returns the base URL without a trailing slash. Throws `bad-config`. */
export function readBaseUrl(value: string | undefined): string {
  if (!value)
    throw new UploaderError('bad-config', 'base-url is not set. Set it to the URL of the upload service');
  let url: URL;
  try {
    url = new URL(value, globalThis.document?.baseURI);
  } catch (cause) {
    throw new UploaderError('bad-config', `base-url "${value}" is not a valid URL`, { cause });
  }
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  if (!isAllowed)
    throw new UploaderError(
      'bad-config',
      `base-url must use https (http on loopback only), not ${url.protocol}`,
    );
  if (url.username || url.password || url.search || url.hash) {
    throw new UploaderError('bad-config', 'base-url must not have a user name, query or fragment');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/**
 * Parses a list of origins. Throws `bad-config` for an invalid entry. Without the error, the list could become empty, and an empty
 * list allows all origins.
 */
export function readOrigins(list: string | readonly string[] = []): readonly string[] {
  const entries = typeof list === 'string' ? list.split(/[\s,]+/) : list;
  return Object.freeze(entries.filter(Boolean).map(readOrigin));
}

function readOrigin(value: string): string {
  const { origin } = URL.canParse(value) ? new URL(value) : { origin: 'null' };
  if (origin === 'null')
    throw new UploaderError(
      'bad-config',
      `upload-origins: "${value}" is not a valid origin such as https://files.example`,
    );
  return origin;
}

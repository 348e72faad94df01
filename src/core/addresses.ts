// Validates the URLs in settings: https, or http on loopback.

import { UploaderError } from './errors.ts';
import { isLoopback } from './loopback.ts';

const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));

/** Returns the base URL without a trailing slash. Throws `bad-config`. */
export function readBaseUrl(value: string | undefined): string {
  if (!value) throw new UploaderError('bad-config', 'base-url is not set');
  let url: URL;
  try {
    url = new URL(value, globalThis.document?.baseURI);
  } catch (cause) {
    throw new UploaderError('bad-config', `base-url "${value}" is not a valid URL`, { cause });
  }
  if (!isSecure(url))
    throw new UploaderError(
      'bad-config',
      `base-url must use https (http on loopback only), not ${url.protocol}`,
    );
  if (url.username || url.password || url.search || url.hash) {
    throw new UploaderError('bad-config', 'base-url must not have a user name, query or fragment');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Resolves an absolute URL, or a path below `baseUrl` with or without a leading slash. Throws `bad-config`. */
export function resolveUrl(baseUrl: string, path: string): URL {
  try {
    return new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(path) ? path : `${baseUrl}/${path.replace(/^\/+/, '')}`);
  } catch (cause) {
    throw new UploaderError('bad-config', `"${path}" is not a valid path below base-url`, { cause });
  }
}

/**
 * Parses a list of origins; `undefined` is an empty list, which allows all origins. Throws `bad-config` for an entry that is more
 * or less than an origin, or the origin of no upload URL, and if a page sets an empty list.
 */
export function readOrigins(list: string | readonly string[] | undefined): readonly string[] {
  if (list === undefined) return Object.freeze([]);
  if (typeof list !== 'string' && !Array.isArray(list))
    throw new UploaderError('bad-config', 'upload-origins is neither a text nor a list');
  const entries = (typeof list === 'string' ? list.split(/[\s,]+/) : list).filter(Boolean);
  return Object.freeze((entries.length > 0 ? entries : ['']).map(readOrigin));
}

function readOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  let problem = 'must use https (http on loopback only)';
  if (String(value).includes('*')) problem = 'has a wildcard. Name each origin';
  else if (url?.href !== `${url?.origin}/`) problem = 'is not a valid origin such as https://files.example';
  else if (isSecure(url)) return url.origin;
  throw new UploaderError('bad-config', `upload-origins: "${value}" ${problem}`);
}

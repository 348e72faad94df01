// Script URLs of workers, also for pages with the policy `require-trusted-types-for 'script'`.

type Convert = (url: string, isOwnBlob: boolean) => string;

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: Convert }): { createScriptURL: Convert };
}

/** Returns true for a URL of a file on the page's origin; false for `blob:` and `data:`. */
export const isPageFile = (url: string): boolean => url.startsWith(`${location.origin}/`);

const createScriptURL: Convert = (url, isOwnBlob) => {
  if (isOwnBlob || isPageFile(url)) return url;
  throw new TypeError('Not a script of this page');
};

let policy: { createScriptURL: Convert } | undefined;

/**
 * Converts the absolute URL of a worker's script for such a page. Throws a `TypeError` if the script is neither a file of the
 * page's origin nor a Blob that this package has created (`isOwnBlob`).
 */
export function trustUrl(url: string, isOwnBlob = false): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const rules = { createScriptURL };
  policy ??= trustedTypes?.createPolicy('secure-uploader', rules) ?? rules;
  return policy.createScriptURL(url, isOwnBlob);
}

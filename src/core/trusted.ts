// Script URLs for pages with the policy `require-trusted-types-for 'script'`.

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** Converts the URL of a worker's script for such a page. */
export function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('secure-uploader', { createScriptURL: (text) => text });
  return policy ? policy.createScriptURL(url) : url;
}

/** Encodes bytes as base64url without padding (RFC 4648, section 5). */
export const toBase64Url = (bytes: Uint8Array): string =>
  // Without a regular expression: the browser keeps the last text that one has matched (`RegExp.input`), and it may be a secret.
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

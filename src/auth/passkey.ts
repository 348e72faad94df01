// Asks the browser for a passkey. Request and credential are JSON; they are converted here where the browser cannot, or where an
// extension's credential throws.

import { UploaderError } from '../core/errors.ts';
import { record } from './post.ts';

type Json = Readonly<Record<string, unknown>>;

const type = 'public-key';

const toBytes = (text: unknown): Uint8Array<ArrayBuffer> => {
  const base64 = String(text).replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
};
const toText = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/**
 * `rpId` must be the service's host or a parent domain of it; otherwise a service on another site could ask for passkeys of the
 * embedding page.
 */
function readOptions(json: Json, baseUrl: string): PublicKeyCredentialRequestOptions {
  const given = record(json.publicKey ?? json);
  const { hostname } = new URL(baseUrl);
  const rpId = given.rpId ?? hostname;
  if (typeof rpId !== 'string' || !`.${hostname}`.endsWith(`.${rpId}`))
    throw new UploaderError('passkey-unavailable', 'rpId is of another domain');
  const options: Json = { ...given, rpId };
  const parse = (PublicKeyCredential as { parseRequestOptionsFromJSON?: (json: unknown) => unknown })
    .parseRequestOptionsFromJSON;
  if (parse) return parse.call(PublicKeyCredential, options) as PublicKeyCredentialRequestOptions;
  const allowed = (Array.isArray(options.allowCredentials) ? options.allowCredentials : []) as Json[];
  return {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: allowed.map(({ id }) => ({ id: toBytes(id), type })),
  } as PublicKeyCredentialRequestOptions;
}

function writeCredential(credential: PublicKeyCredential): unknown {
  try {
    return credential.toJSON();
  } catch {
    // Password managers return credentials of their own, some without `toJSON`.
  }
  const { id, rawId, authenticatorAttachment } = credential;
  const parts = credential.response as unknown as Readonly<Record<string, ArrayBuffer | null>>;
  const response: Record<string, string> = {};
  for (const name of ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']) {
    const part = parts[name];
    if (part) response[name] = toText(part);
  }
  return { id, rawId: toText(rawId), type, response, authenticatorAttachment, clientExtensionResults: {} };
}

/**
 * Resolves with the credential as JSON. Call it in the task of the click. Rejects with `passkey-canceled` if the user declined or
 * `signal` was aborted, and with `passkey-unavailable` if the passkey is of another domain or the request is not valid.
 */
export async function askPasskey(request: Json, baseUrl: string, signal: AbortSignal): Promise<unknown> {
  try {
    const publicKey = readOptions(request, baseUrl);
    const credential = await navigator.credentials.get({ publicKey, signal });
    if (credential) return writeCredential(credential as PublicKeyCredential);
  } catch (cause) {
    const isDeclined =
      cause instanceof DOMException && (cause.name === 'NotAllowedError' || cause.name === 'AbortError');
    if (!isDeclined) throw new UploaderError('passkey-unavailable', 'No passkey', { cause });
  }
  throw new UploaderError('passkey-canceled', 'No passkey');
}

// Asks for a passkey, from the JSON that a service sends to the JSON that it gets back: natively where the browser can, by
// hand where it cannot or where an extension's credential throws. It sends nothing.

import { UploaderError } from '../core/errors.ts';
import { record } from './post.ts';

type Json = Readonly<Record<string, unknown>>;

const toBytes = (text: unknown): Uint8Array<ArrayBuffer> => {
  const base64 = String(text).replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
};
const toText = (bytes: ArrayBuffer | null): string | null =>
  bytes &&
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/**
 * The request options, for a passkey of the service only: its `rpId` must be the service's host or a parent domain of it, or
 * a service elsewhere could ask for the passkeys of the page around the form.
 */
function readOptions(json: Json, baseUrl: string): PublicKeyCredentialRequestOptions {
  const given = record(json.publicKey ?? json);
  const { hostname } = new URL(baseUrl);
  const rpId = given.rpId ?? hostname;
  if (typeof rpId !== 'string' || !`.${hostname}`.endsWith(`.${rpId}`))
    throw new UploaderError('passkey-unavailable', 'The service asked for a passkey of another domain');
  const options: Json = { ...given, rpId };
  const parse = (PublicKeyCredential as { parseRequestOptionsFromJSON?: (json: unknown) => unknown })
    .parseRequestOptionsFromJSON;
  if (parse) return parse.call(PublicKeyCredential, options) as PublicKeyCredentialRequestOptions;
  const allowed = (Array.isArray(options.allowCredentials) ? options.allowCredentials : []) as Json[];
  return {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: allowed.map(({ id }) => ({ id: toBytes(id), type: 'public-key' })),
  } as PublicKeyCredentialRequestOptions;
}

function writeCredential(credential: PublicKeyCredential): unknown {
  try {
    return credential.toJSON();
  } catch {
    // Password managers put credentials of their own in place, some of which cannot write themselves.
  }
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    credential.response as AuthenticatorAssertionResponse;
  const response = {
    clientDataJSON: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    ...(userHandle && { userHandle: toText(userHandle) }),
  };
  const { id, authenticatorAttachment } = credential;
  return {
    id,
    rawId: toText(credential.rawId),
    type: 'public-key',
    response,
    authenticatorAttachment,
    clientExtensionResults: {},
  };
}

/**
 * The signed answer to the request of the service at `baseUrl`, as JSON. To be called on a press only. Rejects with
 * `passkey-canceled` where the person declined or `signal` was aborted, `passkey-unavailable` where this page may not ask (a passkey
 * of another domain) or the request cannot be read.
 */
export async function askPasskey(request: Json, baseUrl: string, signal: AbortSignal): Promise<unknown> {
  try {
    const publicKey = readOptions(request, baseUrl);
    const credential = await navigator.credentials.get({ publicKey, signal });
    if (credential) return writeCredential(credential as PublicKeyCredential);
  } catch (cause) {
    const isDeclined =
      cause instanceof DOMException && (cause.name === 'NotAllowedError' || cause.name === 'AbortError');
    if (!isDeclined)
      throw new UploaderError('passkey-unavailable', 'This page cannot use the passkey', { cause });
  }
  throw new UploaderError('passkey-canceled', 'No passkey was used');
}

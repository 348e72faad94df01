// Asks for a passkey, from the JSON that a service sends to the JSON that it gets back: natively where the browser can, by
// hand where it cannot or where an extension's credential throws. It sends nothing.

import { UploaderError } from '../core/errors.ts';

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

function readOptions(json: Json): PublicKeyCredentialRequestOptions {
  const options = (json.publicKey ?? json) as Json;
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
 * The signed answer to a service's request, as JSON. To be called on a press only. Rejects with `passkey-canceled` where the
 * person declined or `signal` took the question back, `passkey-unavailable` where this page may not ask (another domain's passkey) or the request is no request.
 */
export async function askPasskey(request: Json, signal: AbortSignal): Promise<unknown> {
  try {
    const credential = await navigator.credentials.get({ publicKey: readOptions(request), signal });
    if (credential) return writeCredential(credential as PublicKeyCredential);
  } catch (cause) {
    const isDeclined =
      cause instanceof DOMException && (cause.name === 'NotAllowedError' || cause.name === 'AbortError');
    if (!isDeclined)
      throw new UploaderError('passkey-unavailable', 'This page cannot use the passkey', { cause });
  }
  throw new UploaderError('passkey-canceled', 'No passkey was used');
}

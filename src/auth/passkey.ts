// Asks the browser for a passkey. Converts the JSON of the request and of the credential if the browser or a password manager
// cannot.

import { toBase64Url } from '../core/base64-url.ts';
import type { Settings } from '../core/config.ts';
import { failed, record } from './post.ts';

type Json = Readonly<Record<string, unknown>>;
type Service = Pick<Settings, 'baseUrl' | 'authOptions'>;

const type = 'public-key';

const toBytes = (text: unknown): Uint8Array<ArrayBuffer> => {
  const base64 = String(text).replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
};
const toText = (bytes: ArrayBuffer): string => toBase64Url(new Uint8Array(bytes));

/**
 * Converts the request. Throws if `rpId` is not the one that the page allows: a service must not request passkeys of the embedding
 * page, nor of a domain that both share.
 */
function readOptions(json: Json, { baseUrl, authOptions }: Service): PublicKeyCredentialRequestOptions {
  const given = record(json.publicKey ?? json);
  const allowedId = authOptions.rpId ?? new URL(baseUrl).hostname;
  const { rpId = allowedId } = given;
  if (rpId !== allowedId) throw failed('passkey-unavailable');
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
    // Some password managers return their own credential objects, without a working `toJSON`.
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
 * Resolves with the credential as JSON. Call this function synchronously in the click handler. Rejects with `passkey-canceled` if
 * the user declined or `signal` was aborted. Rejects with `passkey-unavailable` if the request is for another domain or not valid.
 */
export async function askPasskey(request: Json, service: Service, signal: AbortSignal): Promise<unknown> {
  try {
    const publicKey = readOptions(request, service);
    const credential = await navigator.credentials.get({ publicKey, signal });
    if (credential) return writeCredential(credential as PublicKeyCredential);
  } catch (cause) {
    const isDeclined =
      cause instanceof DOMException && (cause.name === 'NotAllowedError' || cause.name === 'AbortError');
    if (!isDeclined) throw failed('passkey-unavailable');
  }
  throw failed('passkey-canceled');
}

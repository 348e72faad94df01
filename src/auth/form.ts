// Sends credentials, challenge answers and passkeys from the form, and turns the service's responses into events. Drops secrets as
// soon as they are sent. Loaded only with the form.

import type { PostAnswer } from '../core/auth-options.ts';
import { toBase64Url } from '../core/base64-url.ts';
import { UploaderError } from '../core/errors.ts';
import { shownText } from '../core/names.ts';
import type { Settings } from '../core/settings-table.ts';
import { abortable, sleep } from '../core/wait.ts';
import { callService, isPause, record, toFailure } from './calls.ts';
import { challengeRows, readResponse, type Step } from './challenge.ts';
import type {
  AuthEvent,
  AuthModel,
  Challenge,
  Effect,
  EventOf,
  FlowEvent,
  FormHost,
  LoginForm,
  Send,
} from './types.ts';

const STEPS: readonly string[] = ['login', 'start', 'answer', 'poll'];

/** What the form of one session sends, and what it keeps between its requests. */
export class FormRequests implements LoginForm {
  readonly rows = challengeRows;
  readonly #host: FormHost;
  /** User input that has not been sent yet. */
  #entered: Readonly<Record<string, unknown>> = {};
  #token: string | undefined;
  #verifier: string | undefined;
  #slowerMs = 0;
  /** Message of the last response. In the next state, this message becomes `said`. */
  #nextSaid: string | undefined;
  #said: string | undefined;

  constructor(host: FormHost) {
    this.#host = host;
  }

  get challenge(): Challenge | undefined {
    return this.#host.machine.model.challenge;
  }

  get said(): string | undefined {
    return this.#said;
  }

  logIn(credentials: Readonly<Record<string, string>>, idpId = this.#host.settings.idpId ?? 'local'): void {
    this.#submit({ idp_id: idpId, ...credentials }, { type: 'submit-login' });
  }

  answer(code: string): void {
    const isRecovery = this.challenge?.method?.family === 'recovery';
    this.#submit({ code: isRecovery ? code.trim() : code.replace(/[\s-]/g, '') }, { type: 'submit' });
  }

  async usePasskey(): Promise<void> {
    const { machine, settings } = this.#host;
    const { signal } = machine;
    const { generation } = machine.model;
    try {
      const credential = await askPasskey(this.challenge?.publicKey ?? {}, settings, signal);
      if (signal.aborted) return;
      this.#submit({ credential }, { type: 'submit' });
    } catch (error) {
      machine.dispatch({ type: 'failed', error: toFailure(error, 'network'), generation });
    }
  }

  act(choice: EventOf<'pick' | 'resend' | 'other-method'>): void {
    this.#host.machine.dispatch(choice);
  }

  run(effect: Effect, signal: AbortSignal, send: Send): void {
    this.#run(effect, signal)
      .then((event) => event && send(event))
      .catch((error: unknown) => {
        if (!signal.aborted) send({ type: 'failed', error: toFailure(error, 'network') });
      });
  }

  onEnter({ state, challenge }: AuthModel): void {
    this.#said = this.#nextSaid;
    this.#nextSaid = undefined;
    if (state !== 'wait') this.#slowerMs = 0;
    if (state !== 'login' && !challenge) this.#token = this.#verifier = undefined;
  }

  /** Dispatches `event`, whose effect takes what was entered. It is dropped if there is no effect, because another request runs. */
  #submit(input: Readonly<Record<string, unknown>>, event: AuthEvent): void {
    this.#entered = input;
    this.#host.machine.dispatch(event);
    this.#entered = {};
  }

  async #run(effect: Effect, signal: AbortSignal): Promise<FlowEvent | undefined> {
    if (effect.type === 'poll') await this.#waitToPoll(effect.isSlower, signal);
    return STEPS.includes(effect.type) ? this.#ask(effect.type as Step, signal) : undefined;
  }

  async #ask(step: Step, signal: AbortSignal): Promise<FlowEvent> {
    const { authOptions } = this.#host.settings;
    const answer = await this.#call(step, signal);
    signal.throwIfAborted();
    const { status, body, retryAfterMs } = answer;
    if (isPause(answer)) return { type: 'rate-limited', waitMs: retryAfterMs };
    const canUsePasskey = typeof globalThis.PublicKeyCredential === 'function';
    const response = readResponse(step, status, body, { nowMs: Date.now(), canUsePasskey });
    const { token = this.#token, code, ...event } = response;
    this.#token = token;
    const { message } = record(body);
    if (authOptions.showServerMessages === true && typeof message === 'string')
      this.#nextSaid = shownText(message).slice(0, 300);
    const verifier = this.#verifier;
    return code && verifier ? { type: 'code', grant: { code, verifier, via: 'form' } } : event;
  }

  async #call(step: Step, signal: AbortSignal): Promise<PostAnswer> {
    const { settings, post, begin, machine } = this.#host;
    const context = { settings, post, signal };
    let body = this.#entered;
    if (step !== 'login') {
      const method = this.challenge?.method?.id;
      body = { challenge_token: this.#token, method, action: step, ...body };
      return callService('challenge', body, context);
    }
    if (settings.authOptions.loginSendsChallenge === true && !machine.model.isSessionEnough) {
      const request = await begin();
      signal.throwIfAborted();
      this.#verifier = request.verifier;
      body = { ...body, code_challenge: request.challenge, code_challenge_method: 'S256' };
    }
    return callService('login', body, context);
  }

  /** Resolves when the next poll is due and the page is visible. */
  async #waitToPoll(isSlower: boolean, signal: AbortSignal): Promise<void> {
    if (isSlower) this.#slowerMs += 5000;
    const pollMs = this.challenge?.pollMs ?? this.#host.machine.model.times.pollMs;
    await sleep(pollMs + this.#slowerMs, signal);
    while (document.hidden) {
      const changed = new Promise((resolve) =>
        document.addEventListener('visibilitychange', resolve, { once: true, signal }),
      );
      await abortable(changed, signal);
    }
  }
}

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
  if (rpId !== allowedId)
    throw new UploaderError(
      'passkey-unavailable',
      `The service asks for a passkey of ${rpId}, but authOptions.rpId allows only ${allowedId}`,
    );
  const options: Json = { ...given, rpId };
  const parsed = PublicKeyCredential.parseRequestOptionsFromJSON?.(options as never);
  if (parsed) return parsed;
  const allowed = (Array.isArray(options.allowCredentials) ? options.allowCredentials : []) as Json[];
  return {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: allowed.map(({ id }) => ({ id: toBytes(id), type })),
  };
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
    const isDeclined = cause instanceof DOMException && /^(NotAllowed|Abort)Error$/.test(cause.name);
    if (cause instanceof UploaderError) throw cause;
    if (!isDeclined)
      throw new UploaderError('passkey-unavailable', `The browser cannot ask for the passkey: ${cause}`, {
        cause,
      });
  }
  throw new UploaderError('passkey-canceled', 'The user has declined the passkey, or it took too long');
}

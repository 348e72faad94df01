// Signing in by a form: credentials, and the challenge that may follow. It sends what the person entered and says what the
// service's answer means. What is secret of it is dropped as soon as it was sent. It is loaded with the form, not before.

import type { Settings } from '../core/config.ts';
import { toUploaderError } from '../core/errors.ts';
import { sleep } from '../core/wait.ts';
import { challengeRows } from './challenge-rows.ts';
import type {
  AuthEvent,
  AuthModel,
  Challenge,
  Effect,
  Failure,
  FlowEvent,
  Method,
  Rows,
} from './machine-types.ts';
import { createTransaction, type Transaction } from './pkce.ts';
import { credentialsOf, isPause, type Post, type PostAnswer } from './post.ts';
import { coolMs, timesOf } from './times.ts';
import { type Reading, readAnswer, type Step } from './vocabulary.ts';

/** What a form works with: a session of its own, or the one that all uploaders of a page share. */
export interface FormHost {
  readonly settings: Settings;
  readonly post: Post;
  /** The same for every round; needed only where the login asks for a code. */
  readonly redirectUri: () => string;
  readonly model: () => AuthModel;
  readonly dispatch: (event: AuthEvent) => void;
  readonly send: (event: FlowEvent, generation?: number) => void;
}

/** What the table asks of a form. */
export interface FormPart {
  readonly rows: Rows;
  run(effect: Effect, signal: AbortSignal, send: (event: FlowEvent) => void): void;
  /** A state was entered. */
  onEnter(model: AuthModel): void;
}

/** What a form may ask, and how it says what was entered. */
export interface LoginForm extends FormPart {
  readonly challenge: Challenge | undefined;
  /** Sends credentials by the names of their fields, `email` and `password` among them unless the settings say otherwise. */
  logIn(credentials: Readonly<Record<string, string>>, idpId?: string): void;
  pick(method: Method): void;
  /** Sends a code; spaces and dashes in it do not count, except in recovery codes. */
  answer(code: string): void;
  /** Asks for the passkey; to be called on a press. */
  usePasskey(): Promise<void>;
  resend(): void;
  chooseAnother(): void;
}

/** Loaded when a passkey may be asked for, and so before the press. */
const loadPasskey = (): Promise<typeof import('./passkey.ts')> => import('./passkey.ts');
const canUsePasskey = (): boolean => typeof globalThis.PublicKeyCredential === 'function';

const KEEPS_CHALLENGE = new Set(['choose', 'start', 'answer', 'verify', 'wait', 'cooling']);
type Names = Readonly<Record<string, string>>;

/** The form's half of signing in, on a host. */
export function createLoginForm(host: FormHost): LoginForm {
  const { settings, post } = host;
  const times = timesOf(settings);
  const { authOptions } = settings;
  const adapter = (authOptions.adapter ?? {}) as {
    login?: (body: unknown, signal: AbortSignal) => Promise<PostAnswer>;
    challenge?: (body: unknown, signal: AbortSignal) => Promise<PostAnswer>;
  };
  let credentials: object | undefined;
  let entered: { readonly code?: string; readonly credential?: unknown } = {};
  let token: string | undefined;
  let round: Transaction | undefined;
  let extraMs = 0;
  let coolings = 0;

  const challenge = (): Challenge | undefined => host.model().challenge;

  async function sendLogin(signal: AbortSignal): Promise<PostAnswer> {
    let body = { ...credentials };
    credentials = undefined;
    if (authOptions.loginSendsChallenge === true) {
      round = await createTransaction(settings, host.redirectUri());
      const { challenge: code_challenge } = round;
      body = { ...body, code_challenge, code_challenge_method: 'S256' } as object;
    }
    if (adapter.login) return adapter.login(body, signal);
    return post(settings.paths.login, body, {
      credentials: credentialsOf(settings, 'login'),
      signal,
      headers: headers(),
    });
  }

  async function sendStep(action: Step, signal: AbortSignal): Promise<PostAnswer> {
    const { paths, names } = (authOptions.challenge ?? {}) as { paths?: Names; names?: Names };
    const fields = { challenge_token: token, method: challenge()?.method?.id, action, ...entered };
    entered = {};
    const body = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [names?.[name] ?? name, value]),
    );
    if (adapter.challenge) return adapter.challenge(body, signal);
    const path = paths?.[action] ?? settings.paths.challenge;
    return post(path, body, {
      credentials: credentialsOf(settings, 'challenge'),
      signal,
      headers: headers(),
    });
  }

  const headers = (): Record<string, string> => ({ ...(authOptions.headers as Names | undefined) });

  async function ask(step: Step, signal: AbortSignal): Promise<FlowEvent> {
    const answer = await (step === 'login' ? sendLogin(signal) : sendStep(step, signal));
    signal.throwIfAborted();
    if (isPause(answer)) {
      return { type: 'rate-limited', waitMs: coolMs(answer.retryAfterMs, coolings++, times) };
    }
    coolings = 0;
    const how = { nowMs: Date.now(), canUsePasskey: canUsePasskey(), options: authOptions };
    const reading = readAnswer(step, answer.status, answer.body, how);
    token = reading.token ?? token;
    if (reading.type === 'challenged' && reading.methods.some(({ family }) => family === 'passkey'))
      await loadPasskey();
    return toEvent(reading);
  }

  function toEvent(reading: Reading): FlowEvent {
    if (reading.type !== 'established') return reading;
    if (!reading.code || !round) return { type: 'established' };
    return { type: 'code', grant: { code: reading.code, verifier: round.verifier, via: 'form' } };
  }

  /** Waits for the next poll; a page that nobody sees does not poll, and does so at once when it is seen again. */
  async function waitToPoll(isSlower: boolean, signal: AbortSignal): Promise<void> {
    if (isSlower) extraMs += 5000;
    await sleep((challenge()?.pollMs ?? times.pollMs) + extraMs, signal);
    if (!document.hidden) return;
    await new Promise<void>((resolve, reject) => {
      const stop = new AbortController();
      const onChange = (): void => {
        if (document.hidden) return;
        stop.abort();
        resolve();
      };
      document.addEventListener('visibilitychange', onChange, { signal: stop.signal });
      signal.addEventListener(
        'abort',
        () => {
          stop.abort();
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  return {
    rows: challengeRows,
    get challenge() {
      return challenge();
    },
    run(effect, signal, send) {
      const steps: Readonly<Record<string, Step>> = {
        login: 'login',
        start: 'start',
        verify: 'answer',
        poll: 'poll',
      };
      const step = steps[effect.type];
      if (!step) return;
      const ready = effect.type === 'poll' ? waitToPoll(effect.isSlower, signal) : Promise.resolve();
      ready
        .then(() => ask(step, signal))
        .then(send)
        .catch((error: unknown) => {
          if (!signal.aborted) send({ type: 'failed', error: describe(error) });
        });
    },
    onEnter({ state }) {
      if (!KEEPS_CHALLENGE.has(state)) token = undefined;
      if (state !== 'wait') extraMs = 0;
      if (state !== 'login' && !KEEPS_CHALLENGE.has(state)) round = undefined;
    },
    logIn(fields, idpId = settings.idpId ?? 'local') {
      credentials = { idp_id: idpId, ...fields };
      host.dispatch({ type: 'submit-login' });
    },
    pick: (method) => host.dispatch({ type: 'pick', method }),
    answer(code) {
      const isRecovery = challenge()?.method?.family === 'recovery';
      entered = { code: isRecovery ? code.trim() : code.replace(/[\s-]/g, '') };
      host.dispatch({ type: 'submit' });
    },
    async usePasskey() {
      const { generation } = host.model();
      try {
        const { askPasskey } = await loadPasskey();
        const credential = await askPasskey(challenge()?.publicKey ?? {}, new AbortController().signal);
        if (host.model().generation !== generation) return;
        entered = { credential };
        host.dispatch({ type: 'submit' });
      } catch (error) {
        host.send({ type: 'failed', error: describe(error) }, generation);
      }
    },
    resend: () => host.dispatch({ type: 'resend' }),
    chooseAnother: () => host.dispatch({ type: 'other-method' }),
  };
}

function describe(error: unknown): Failure {
  const { code, status } = toUploaderError(error, 'network', 'The answer could not be had');
  return status === undefined ? { code } : { code, status };
}

// Signing in by a form: credentials, and the challenge that may follow. It sends what the person entered and says what the
// service's answer means. What is secret of it is dropped as soon as it was sent. It is loaded with the form, not before.

import { sleep } from '../core/wait.ts';
import { challengeRows } from './challenge-rows.ts';
import type {
  AuthEvent,
  AuthModel,
  Challenge,
  Effect,
  EventOf,
  FlowEvent,
  Rows,
  Send,
} from './machine-types.ts';
import type { Transaction } from './pkce.ts';
import { type CallContext, callService, isPause, type PostAnswer, record, toFailure } from './post.ts';
import { coolMs, timesOf } from './times.ts';
import { readAnswer, type Step } from './vocabulary.ts';

/** What a form works with: the session that all uploaders of a page share, or one of its own. */
export interface FormHost extends Pick<CallContext, 'settings' | 'post'> {
  /** Begins a round whose code the answer to a login may bring. */
  readonly begin: () => Promise<Transaction>;
  readonly model: () => AuthModel;
  /** Aborted when the state at hand is left. */
  readonly signal: () => AbortSignal;
  readonly dispatch: (event: AuthEvent) => void;
}

/** What a form may ask, and how it says what was entered. */
export interface LoginForm {
  readonly challenge: Challenge | undefined;
  /** What the service said of the last failure, in its own words; only where the page wants them shown. */
  readonly said: string | undefined;
  /** Sends credentials by the names of their fields, `email` and `password` among them unless the settings say otherwise. */
  logIn(credentials: Readonly<Record<string, string>>, idpId?: string): void;
  /** Sends a code; spaces and dashes in it do not count, except in recovery codes. */
  answer(code: string): void;
  /** Asks for the passkey; to be called on a press. */
  usePasskey(): Promise<void>;
  /** Picks a method, or asks for the same code again, or for another method. */
  act(choice: EventOf<'pick' | 'resend' | 'other-method'>): void;
  /** What the table asks of a form. */
  readonly rows: Rows;
  run(effect: Effect, signal: AbortSignal, send: Send): void;
  /** A state was entered. */
  onEnter(model: AuthModel): void;
}

/** Loaded when a passkey may be asked for, and so before the press. */
const loadPasskey = (): Promise<typeof import('./passkey.ts')> => import('./passkey.ts');

const STEPS = new Set(['login', 'start', 'answer', 'poll']);

/** The form's half of signing in, on a host. */
export function createLoginForm({ settings, post, begin, model, signal, dispatch }: FormHost): LoginForm {
  const { authOptions } = settings;
  const times = timesOf(settings);
  /** What was entered and is not sent yet. */
  let entered: Readonly<Record<string, unknown>> = {};
  let token: string | undefined;
  /** The secret half of a code that the answer may bring. */
  let verifier: string | undefined;
  let slowerMs = 0;
  /** What the last answer said, and what is shown of it: gone with the next step. */
  let heard: string | undefined;
  let said: string | undefined;

  const challenge = (): Challenge | undefined => model().challenge;

  async function call(step: Step, signal: AbortSignal): Promise<PostAnswer> {
    const context = { settings, post, signal };
    const body = entered;
    entered = {};
    if (step !== 'login') {
      const asked = { challenge_token: token, method: challenge()?.method?.id, action: step, ...body };
      return callService('challenge', asked, context);
    }
    if (authOptions.loginSendsChallenge !== true || model().isSessionEnough)
      return callService('login', body, context);
    const round = await begin();
    verifier = round.verifier;
    const bound = { code_challenge: round.challenge, code_challenge_method: 'S256' };
    return callService('login', { ...body, ...bound }, context);
  }

  async function ask(step: Step, signal: AbortSignal): Promise<FlowEvent> {
    const answer = await call(step, signal);
    signal.throwIfAborted();
    const { status, body, retryAfterMs } = answer;
    if (isPause(answer))
      return { type: 'rate-limited', waitMs: coolMs(retryAfterMs, model().coolings, times) };
    const canUsePasskey = typeof globalThis.PublicKeyCredential === 'function';
    const {
      token: newest,
      code,
      ...event
    } = readAnswer(step, status, body, {
      nowMs: Date.now(),
      canUsePasskey,
    });
    token = newest ?? token;
    const { message } = record(body);
    if (authOptions.showServerMessages === true && typeof message === 'string') heard = message.slice(0, 300);
    if (event.type === 'challenged' && event.methods.some(({ family }) => family === 'passkey'))
      await loadPasskey();
    return code && verifier ? { type: 'code', grant: { code, verifier, via: 'form' } } : event;
  }

  /** Waits for the next poll; a page that nobody sees does not poll, and does so at once when it is seen again. */
  async function waitToPoll(isSlower: boolean, signal: AbortSignal): Promise<void> {
    if (isSlower) slowerMs += 5000;
    await sleep((challenge()?.pollMs ?? times.pollMs) + slowerMs, signal);
    if (!document.hidden) return;
    await new Promise<void>((resolve, reject) => {
      document.addEventListener('visibilitychange', () => document.hidden || resolve(), { signal });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  async function run(effect: Effect, signal: AbortSignal): Promise<FlowEvent | undefined> {
    if (effect.type === 'poll') await waitToPoll(effect.isSlower, signal);
    return STEPS.has(effect.type) ? ask(effect.type as Step, signal) : undefined;
  }

  return {
    get challenge() {
      return challenge();
    },
    get said() {
      return said;
    },
    rows: challengeRows,
    run(effect, signal, send) {
      const fail = (error: unknown): void => {
        if (!signal.aborted) send({ type: 'failed', error: toFailure(error, 'network') });
      };
      run(effect, signal)
        .then((event) => event && send(event))
        .catch(fail);
    },
    onEnter({ state, challenge }) {
      said = heard;
      heard = undefined;
      if (state !== 'wait') slowerMs = 0;
      if (state !== 'login' && !challenge) token = verifier = undefined;
    },
    logIn(fields, idpId = settings.idpId ?? 'local') {
      entered = { idp_id: idpId, ...fields };
      dispatch({ type: 'submit-login' });
    },
    answer(code) {
      const isRecovery = challenge()?.method?.family === 'recovery';
      entered = { code: isRecovery ? code.trim() : code.replace(/[\s-]/g, '') };
      dispatch({ type: 'submit' });
    },
    async usePasskey() {
      const { generation } = model();
      const asked = signal();
      try {
        const { askPasskey } = await loadPasskey();
        const credential = await askPasskey(challenge()?.publicKey ?? {}, settings.baseUrl, asked);
        if (asked.aborted) return;
        entered = { credential };
        dispatch({ type: 'submit' });
      } catch (error) {
        dispatch({ type: 'failed', error: toFailure(error, 'network'), generation });
      }
    },
    act: dispatch,
  };
}

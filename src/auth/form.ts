// Sends credentials and challenge answers from the form, and turns the service's responses into events. Drops secrets as soon as
// they are sent. Loaded only with the form.

import { shownText } from '../core/names.ts';
import { abortable, sleep } from '../core/wait.ts';
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
import { askPasskey } from './passkey.ts';
import type { Transaction } from './pkce.ts';
import { type CallContext, callService, isPause, type PostAnswer, record, toFailure } from './post.ts';
import { timesOf } from './times.ts';
import { readAnswer, type Step } from './vocabulary.ts';

export interface FormHost extends Pick<CallContext, 'settings' | 'post'> {
  /** Creates an authorization request. The response to a login may contain the code for this request. */
  readonly begin: () => Promise<Transaction>;
  readonly model: () => AuthModel;
  /** Returns a signal that aborts when the current state ends. */
  readonly signal: () => AbortSignal;
  readonly dispatch: (event: AuthEvent) => void;
}

export interface LoginForm {
  readonly challenge: Challenge | undefined;
  /** Field `message` of the service's last response. Set only with `authOptions.showServerMessages`. */
  readonly said: string | undefined;
  /** Sends the credentials, by field name (by default `email` and `password`). */
  logIn(credentials: Readonly<Record<string, string>>, idpId?: string): void;
  /** Sends a code after removing spaces and dashes. A recovery code is only trimmed. */
  answer(code: string): void;
  /** Asks the browser for a passkey and sends the credential. Call this method synchronously in the click handler. */
  usePasskey(): Promise<void>;
  act(choice: EventOf<'pick' | 'resend' | 'other-method'>): void;
  readonly rows: Rows;
  run(effect: Effect, signal: AbortSignal, send: Send): void;
  /** Updates `said`, and drops secrets that are no longer needed. Call this method after each step of the table. */
  onEnter(model: AuthModel): void;
}

const STEPS: readonly string[] = ['login', 'start', 'answer', 'poll'];

export function createLoginForm({ settings, post, begin, model, signal, dispatch }: FormHost): LoginForm {
  const { authOptions } = settings;
  const { pollMs } = timesOf(settings);
  /** User input that has not been sent yet. */
  let entered: Readonly<Record<string, unknown>> = {};
  let token: string | undefined;
  let verifier: string | undefined;
  let slowerMs = 0;
  /** Message of the last response. In the next state, this message becomes `said`. */
  let nextSaid: string | undefined;
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
    if (isPause(answer)) return { type: 'rate-limited', waitMs: retryAfterMs };
    const how = { nowMs: Date.now(), canUsePasskey: typeof globalThis.PublicKeyCredential === 'function' };
    const { token: newest = token, code, ...event } = readAnswer(step, status, body, how);
    token = newest;
    const { message } = record(body);
    if (authOptions.showServerMessages === true && typeof message === 'string')
      nextSaid = shownText(message).slice(0, 300);
    return code && verifier ? { type: 'code', grant: { code, verifier, via: 'form' } } : event;
  }

  /** Resolves when the next poll is due and the page is visible. */
  async function waitToPoll(isSlower: boolean, signal: AbortSignal): Promise<void> {
    if (isSlower) slowerMs += 5000;
    await sleep((challenge()?.pollMs ?? pollMs) + slowerMs, signal);
    while (document.hidden) {
      const changed = new Promise((resolve) =>
        document.addEventListener('visibilitychange', resolve, { once: true, signal }),
      );
      await abortable(changed, signal);
    }
  }

  async function run(effect: Effect, signal: AbortSignal): Promise<FlowEvent | undefined> {
    if (effect.type === 'poll') await waitToPoll(effect.isSlower, signal);
    return STEPS.includes(effect.type) ? ask(effect.type as Step, signal) : undefined;
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
      run(effect, signal)
        .then((event) => event && send(event))
        .catch((error: unknown) => {
          if (!signal.aborted) send({ type: 'failed', error: toFailure(error, 'network') });
        });
    },
    onEnter({ state, challenge }) {
      said = nextSaid;
      nextSaid = undefined;
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
        const credential = await askPasskey(challenge()?.publicKey ?? {}, settings, asked);
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

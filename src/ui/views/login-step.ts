// The sign-in form, one view per step.

import { html, nothing, type TemplateResult } from 'lit';
import type { CredentialField } from '../../core/auth-options.ts';
import type { LoginMessages } from '../../core/messages.ts';
import type { AuthSnapshot } from '../../core/types.ts';
import type { Challenge, Method, SignIn } from '../../engine/sign-in.ts';

/** An identity provider. `federated` ones have their own sign-in page. */
export interface Idp {
  readonly id: string;
  readonly label: string;
  readonly kind: 'local' | 'federated';
}

/** The state and the callbacks of the form, in addition to the sign-in session. */
export interface LoginView extends SignIn {
  readonly auth: AuthSnapshot;
  readonly challenge: Challenge | undefined;
  readonly messages: LoginMessages;
  readonly fields: readonly CredentialField[];
  readonly idps: readonly Idp[];
  readonly email: string;
  /** Prefix for the ids of inner elements, since a page can have several forms. */
  readonly id: string;
  readonly isFramed: boolean;
  /** True if the user can open the sign-in window instead. */
  readonly hasWindow: boolean;
  readonly isPasswordShown: boolean;
  readonly resendInS: number;
  readonly coolInS: number;
  onLogIn(event: SubmitEvent): void;
  onAnswer(event: SubmitEvent): void;
  onType(event: InputEvent): void;
  onToggle(): void;
}

/** The error after which the form sends nothing until the input changes. */
export const LOCKED = 'account-locked';

/** Errors after which only the sign-in window can help. */
const WINDOW_HELPS: readonly string[] = [
  'step-unsupported',
  'method-unsupported',
  'passkey-unavailable',
  'sign-in-required',
];

/** The view of the current step. */
export function loginStep(view: LoginView): TemplateResult {
  const { messages, challenge, auth, coolInS } = view;
  switch (auth.state) {
    // The form stays visible during a request, to keep the focus and the input.
    case 'prompt':
    case 'signed-out':
    case 'login':
      return panel(view, messages.logIn, view.isFramed ? html`<p>${messages.framed}</p>` : credentials(view));
    case 'choose':
      return panel(view, messages.chooseTitle, methods(view));
    case 'answer':
    case 'verify':
      return panel(view, nameOf(view, challenge?.method), answer(view));
    case 'wait':
      return panel(
        view,
        nameOf(view, challenge?.method),
        html`${
          challenge?.number
            ? html`<p>${messages.waitNumber(challenge.number)}</p><p class="number"
                aria-hidden="true">${challenge.number}</p>`
            : nothing
        }
        <p>${messages.waitText}</p>`,
      );
    case 'signed-in':
      return panel(view, messages.signedIn);
    default:
      // Screen readers announce the error once, but not the seconds.
      return panel(
        view,
        messages.busy,
        coolInS > 0 ? html`<p role="timer">${messages.seconds(coolInS)}</p>` : undefined,
      );
  }
}

/**
 * The frame of each step: a focusable heading, the error, the content, and buttons for the sign-in window, another method and the
 * start.
 */
const panel = (view: LoginView, title: string, content?: TemplateResult): TemplateResult =>
  html`<section lang=${view.messages.locale} aria-labelledby="${view.id}-title">
    <h2 id="${view.id}-title" tabindex="-1">${title}</h2>
    <div role="status" class="error" id="${view.id}-error">${problem(view)}</div>
    ${content} ${windowButton(view)} ${waysOut(view)}
  </section>`;

function problem({ auth, form, challenge, messages, hasWindow }: LoginView): string {
  const code = auth.error?.code;
  if (!code || code === 'canceled') return '';
  if (code === 'sign-in-required' && hasWindow) return messages.otherJar;
  const attemptsLeft = challenge?.attemptsLeft;
  const more =
    code === 'challenge-failed' && attemptsLeft !== undefined
      ? ` ${messages.attemptsLeft(attemptsLeft)}`
      : '';
  return (form.said ?? messages[code]) + more;
}

function windowButton(view: LoginView): TemplateResult | typeof nothing {
  const { auth, session, messages } = view;
  const helps = WINDOW_HELPS.includes(auth.error?.code ?? '') || (view.isFramed && auth.state === 'prompt');
  if (!view.hasWindow || !helps) return nothing;
  return html`<button type="button" @click=${() => session.signIn('popup')}>${messages.inWindow}</button>`;
}

const plain = (label: string, onClick: () => void, disabled = false): TemplateResult =>
  html`<button type="button" class="plain" ?disabled=${disabled} @click=${onClick}>${label}</button>`;

/** Buttons to resend the code, choose another method and start over. */
function waysOut(view: LoginView): TemplateResult | typeof nothing {
  const { session, form, messages, resendInS } = view;
  const { method, methods = [] } = view.challenge ?? {};
  const { state } = view.auth;
  if (['prompt', 'signed-out', 'signed-in'].includes(state)) return nothing;
  const canResend = state === 'answer' && method?.needsStart && method.family !== 'passkey';
  const canChange = methods.length > 1 && ['answer', 'verify', 'wait'].includes(state);
  const resend = resendInS > 0 ? messages.sendAgainIn(resendInS) : messages.sendAgain;
  return html`<div class="beside">
    ${canResend ? plain(resend, () => form.act({ type: 'resend' }), resendInS > 0) : nothing}
    ${canChange ? plain(messages.otherMethod, () => form.act({ type: 'other-method' })) : nothing}
    ${plain(methods.length > 0 ? messages.startOver : messages.cancel, () => session.cancel())}
  </div>`;
}

/**
 * An input with its label; the error is its `aria-describedby`. The casts satisfy the template check, which allows fewer attribute
 * values than HTML.
 */
function entry(
  view: LoginView,
  field: Required<Omit<CredentialField, 'required'>> & {
    readonly required?: boolean | undefined;
    readonly value?: string;
    readonly inputmode?: 'numeric' | 'text';
    readonly isFixed?: boolean;
  },
): TemplateResult {
  const { name, label, type, autocomplete, required = true, value = '', inputmode, isFixed = false } = field;
  const isWrong =
    view.auth.error?.code === (name === 'code' ? 'challenge-failed' : 'credentials-rejected') && !isFixed;
  return html`<label>${label}
    <input name=${name} type=${type as 'text'} autocomplete=${autocomplete as 'on'} inputmode=${inputmode ?? nothing}
      autocapitalize="none" spellcheck="false" ?required=${required} ?readonly=${isFixed} .value=${value}
      aria-invalid=${isWrong} aria-describedby="${view.id}-error" @input=${view.onType}>
  </label>`;
}

const address = (view: LoginView, isFixed: boolean): TemplateResult =>
  entry(view, {
    name: 'email',
    label: view.messages.email,
    type: 'email',
    autocomplete: 'username',
    value: view.email,
    isFixed,
  });

/**
 * The forms have the method `dialog`: pages keep and restore copies of their nodes, without listeners, and with another method a
 * copy would put what is entered into the URL of the page.
 */
function credentials(view: LoginView): TemplateResult {
  const { messages, fields, idps, session } = view;
  const isBusy = view.auth.state === 'login';
  const locals = idps.filter(({ kind }) => kind === 'local');
  const option = ({ id, label }: (typeof idps)[number]) => html`<option value=${id}>${label}</option>`;
  const others = idps.filter(({ kind }) => kind === 'federated');
  return html`<form method="dialog" @submit=${view.onLogIn}>
      ${address(view, false)} ${fields.map((field) => credential(view, field))}
      ${
        locals.length > 1
          ? html`<label>${messages.account}
              <select name="idp_id">${locals.map(option)}</select>
            </label>`
          : nothing
      }
      <button class="primary" type="submit" ?disabled=${isBusy || view.auth.error?.code === LOCKED}>${
        isBusy ? messages.busy : messages.logIn
      }</button>
    </form>
    ${others.map(
      ({ id, label }) =>
        html`<button type="button" @click=${() => session.signIn('popup', id)}>${messages.signInWith(label)}</button>`,
    )}`;
}

function credential(view: LoginView, field: CredentialField): TemplateResult {
  const { messages, isPasswordShown } = view;
  const { name, label = messages.password, type = 'password', autocomplete = 'current-password' } = field;
  const isPassword = type === 'password';
  const inputType = isPassword && isPasswordShown ? 'text' : type;
  return html`<div class="beside">
    ${entry(view, { name, label, type: inputType, autocomplete, required: field.required })}
    ${isPassword ? plain(isPasswordShown ? messages.hide : messages.show, view.onToggle) : nothing}
  </div>`;
}

/** The label of a method: the service's, or by default ours. */
const nameOf = ({ messages }: LoginView, method?: Method): string =>
  method?.label ?? messages.methods[method?.family ?? 'code'];

const methods = (view: LoginView): TemplateResult =>
  html`<ul>
    ${view.challenge?.methods.map(
      (method) => html`<li>
        <button type="button" @click=${() => view.form.act({ type: 'pick', method })}>
          ${nameOf(view, method)}
          ${method.hint ? html`<span class="hint" dir="auto">${method.hint}</span>` : nothing}
        </button>
      </li>`,
    )}
  </ul>`;

function answer(view: LoginView): TemplateResult {
  const { messages, form } = view;
  const { method, delivery, codeKind } = view.challenge ?? {};
  const isBusy = view.auth.state === 'verify';
  if (method?.family === 'passkey')
    return html`<button type="button" class="primary" ?disabled=${isBusy} @click=${() => void form.usePasskey()}>
      ${messages.usePasskey}
    </button>`;
  const isText = method?.family === 'recovery' || codeKind === 'alphanumeric';
  const inputmode = isText ? 'text' : 'numeric';
  return html`<form method="dialog" @submit=${view.onAnswer}>
    ${delivery ? html`<p class="hint">${messages.sentTo(delivery)}</p>` : nothing}
    ${view.email ? address(view, true) : nothing}
    ${entry(view, { name: 'code', label: messages.code, type: 'text', autocomplete: 'one-time-code', inputmode })}
    <button class="primary" type="submit" ?disabled=${isBusy}>${isBusy ? messages.busy : messages.verify}</button>
  </form>`;
}

// What a person sees of signing in by a form, step by step. It knows where the form stands, and nothing of how it works.

import { html, nothing, type TemplateResult } from 'lit';
import type { AuthSnapshot } from '../../core/types.ts';
import type { Challenge, Method } from '../../engine/sign-in.ts';
import type { LoginMessages } from '../login-messages.ts';

/** A field of the credentials, beside the address that names the account. */
export interface CredentialField {
  readonly name: string;
  readonly label?: string;
  readonly type?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
}

/** An identity provider to choose; `federated` ones have a page of their own. */
export interface Idp {
  readonly id: string;
  readonly label: string;
  readonly kind: 'local' | 'federated';
}

export interface LoginState {
  readonly auth: AuthSnapshot;
  readonly challenge: Challenge | undefined;
  readonly messages: LoginMessages;
  readonly fields: readonly CredentialField[];
  readonly idps: readonly Idp[];
  readonly email: string;
  readonly isFramed: boolean;
  readonly hasWindow: boolean;
  readonly isPasswordShown: boolean;
  readonly resendInS: number;
  readonly coolInS: number;
}

export interface LoginCommands {
  onLogIn(event: SubmitEvent): void;
  onAnswer(event: SubmitEvent): void;
  onToggle(): void;
  pick(method: Method): void;
  usePasskey(): void;
  resend(): void;
  chooseAnother(): void;
  cancel(): void;
  openWindow(idpId?: string): void;
}

/** Failures after which only the service's own window goes on. */
const WINDOW_HELPS = new Set([
  'step-unsupported',
  'method-unsupported',
  'passkey-unavailable',
  'sign-in-required',
]);

/** The step that the form stands at. */
export function loginStep(state: LoginState, commands: LoginCommands): TemplateResult {
  const { auth, messages } = state;
  switch (auth.state) {
    // While an answer is under way its form stays, so that neither focus nor text is lost.
    case 'prompt':
    case 'signed-out':
    case 'login':
      return state.isFramed ? framed(state, commands) : credentials(state, commands);
    case 'choose':
      return choose(state, commands);
    case 'answer':
    case 'verify':
      return answer(state, commands);
    case 'wait':
      return wait(state, commands);
    case 'signed-in':
      return panel(state, messages.done, html``);
    default:
      return panel(
        state,
        messages.busy,
        html`${auth.state === 'cooling' ? html`<p>${messages.cooling(state.coolInS)}</p>` : nothing}
          <div class="beside">${plain(messages.cancel, commands.cancel)}</div>`,
      );
  }
}

/** One step: a heading that takes the focus, what went wrong, read out once, and what stands below. */
const panel = (state: LoginState, title: string, content: TemplateResult): TemplateResult =>
  html`<section aria-labelledby="secure-uploader-login-title">
    <h2 id="secure-uploader-login-title" tabindex="-1">${title}</h2>
    <div role="status" class="error" id="secure-uploader-login-error">${problem(state)}</div>
    ${content}
  </section>`;

const plain = (label: string, onClick: () => void, disabled = false): TemplateResult =>
  html`<button type="button" class="plain" ?disabled=${disabled} @click=${() => onClick()}>${label}</button>`;

function problem({ auth, messages, challenge, hasWindow, coolInS }: LoginState): string {
  const code = auth.error?.code;
  if (!code || code === 'canceled') return '';
  if (auth.state === 'cooling') return coolInS > 0 ? messages.busy : '';
  if (code === 'sign-in-required' && hasWindow) return messages.otherJar;
  const left = challenge?.attemptsLeft;
  const more = code === 'challenge-failed' && left !== undefined ? ` ${messages.attemptsLeft(left)}` : '';
  return messages[code] + more;
}

const windowButton = ({ messages }: LoginState, commands: LoginCommands): TemplateResult =>
  html`<button type="button" @click=${() => commands.openWindow()}>${messages.inWindow}</button>`;

const framed = (state: LoginState, commands: LoginCommands): TemplateResult =>
  panel(
    state,
    state.messages.loginTitle,
    html`<p>${state.messages.framed}</p>${state.hasWindow ? windowButton(state, commands) : nothing}`,
  );

function credentials(state: LoginState, commands: LoginCommands): TemplateResult {
  const { messages, auth, fields, idps } = state;
  const isWrong = auth.error?.code === 'credentials-rejected';
  const locals = idps.filter(({ kind }) => kind === 'local');
  return panel(
    state,
    messages.loginTitle,
    html`<form @submit=${commands.onLogIn}>
        <label>${messages.email}
          <input name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required
            .value=${state.email} aria-invalid=${isWrong} aria-describedby="secure-uploader-login-error">
        </label>
        ${fields.map((field) => credentialField(field, state, commands))}
        ${
          locals.length > 1
            ? html`<label>${messages.account}
                <select name="idp_id">${locals.map(({ id, label }) => html`<option value=${id}>${label}</option>`)}</select>
              </label>`
            : nothing
        }
        <button class="primary" type="submit" ?disabled=${auth.state === 'login'}>
          ${auth.state === 'login' ? messages.busy : messages.logIn}
        </button>
      </form>
      ${idps
        .filter(({ kind }) => kind === 'federated')
        .map(
          ({ id, label }) =>
            html`<button type="button" @click=${() => commands.openWindow(id)}>${messages.signInWith(label)}</button>`,
        )}
      ${state.hasWindow && WINDOW_HELPS.has(auth.error?.code ?? '') ? windowButton(state, commands) : nothing}`,
  );
}

/** A value that HTML lists, and the template check does not: pages name their own fields, and its list is older than codes. */
const listed = (value: string): 'on' => value as 'on';

function credentialField(field: CredentialField, state: LoginState, commands: LoginCommands): TemplateResult {
  const { messages, isPasswordShown, auth } = state;
  const { name, label = messages.password, type = 'password', autocomplete = 'current-password' } = field;
  const isPassword = type === 'password';
  const isWrong = auth.error?.code === 'credentials-rejected';
  const shown = (isPassword && isPasswordShown ? 'text' : type) as 'text';
  return html`<div class="beside">
    <label>${label}
      <input name=${name} type=${shown} autocomplete=${listed(autocomplete)} autocapitalize="none" spellcheck="false"
        ?required=${field.required ?? true} aria-invalid=${isWrong} aria-describedby="secure-uploader-login-error">
    </label>
    ${
      isPassword
        ? html`<button type="button" class="plain" aria-pressed=${isPasswordShown} @click=${() => commands.onToggle()}>
            ${isPasswordShown ? messages.hide : messages.show}
          </button>`
        : nothing
    }
  </div>`;
}

const choose = (state: LoginState, commands: LoginCommands): TemplateResult =>
  panel(
    state,
    state.messages.chooseTitle,
    html`      <ul>
        ${state.challenge?.methods.map(
          (method) => html`<li>
            <button type="button" @click=${() => commands.pick(method)}>
              ${method.label ?? state.messages.methods[method.family]}
              ${method.hint ? html`<span class="hint">${method.hint}</span>` : nothing}
            </button>
          </li>`,
        )}
      </ul>
      ${state.hasWindow && WINDOW_HELPS.has(state.auth.error?.code ?? '') ? windowButton(state, commands) : nothing}
      <div class="beside">${plain(state.messages.startOver, commands.cancel)}</div>`,
  );

/** The ways out of a step: the same code again, another method, all anew. */
function waysOut(state: LoginState, commands: LoginCommands): TemplateResult {
  const { challenge, messages, resendInS } = state;
  const canResend =
    challenge?.method?.needsStart && challenge.method.family !== 'passkey' && state.auth.state === 'answer';
  const label = resendInS > 0 ? messages.sendAgainIn(resendInS) : messages.sendAgain;
  return html`<div class="beside">
    ${canResend ? plain(label, commands.resend, resendInS > 0) : nothing}
    ${(challenge?.methods.length ?? 0) > 1 ? plain(messages.otherMethod, commands.chooseAnother) : nothing}
    ${plain(messages.startOver, commands.cancel)}
  </div>`;
}

function answer(state: LoginState, commands: LoginCommands): TemplateResult {
  const { challenge, messages, auth } = state;
  const family = challenge?.method?.family ?? 'code';
  const title = messages.codeTitle[family];
  const hasWindow = state.hasWindow && WINDOW_HELPS.has(auth.error?.code ?? '');
  if (family === 'passkey') {
    return panel(
      state,
      title,
      html`        <button type="button" class="primary" ?disabled=${auth.state === 'verify'} @click=${() => commands.usePasskey()}>${messages.usePasskey}</button>
        ${hasWindow ? windowButton(state, commands) : nothing} ${waysOut(state, commands)}`,
    );
  }
  const isNumeric = family !== 'recovery' && challenge?.codeKind !== 'alphanumeric';
  return panel(
    state,
    title,
    html`<form @submit=${commands.onAnswer}>
      ${challenge?.delivery ? html`<p class="hint">${messages.sentTo(challenge.delivery)}</p>` : nothing}
      ${
        state.email
          ? html`<label>${messages.email}
              <input name="email" type="email" autocomplete="username" readonly .value=${state.email}>
            </label>`
          : nothing
      }
      <label>${messages.code}
        <input name="code" type="text" inputmode=${isNumeric ? 'numeric' : 'text'} autocomplete=${listed('one-time-code')}
          autocapitalize="none" spellcheck="false" required maxlength="128"
          aria-invalid=${auth.error?.code === 'challenge-failed'} aria-describedby="secure-uploader-login-error">
      </label>
      <button class="primary" type="submit" ?disabled=${auth.state === 'verify'}>
        ${auth.state === 'verify' ? messages.busy : messages.verify}
      </button>
      ${waysOut(state, commands)}
    </form>`,
  );
}

function wait(state: LoginState, commands: LoginCommands): TemplateResult {
  const { challenge, messages } = state;
  return panel(
    state,
    messages.codeTitle.push,
    html`      ${
      challenge?.number
        ? html`<p>${messages.waitNumber(challenge.number)}</p><p class="number" aria-hidden="true">${challenge.number}</p>`
        : nothing
    }
      <p>${messages.waitText}</p>
      ${waysOut(state, commands)}`,
  );
}

// The sign-in panel: a button, progress, errors, or the slot for the sign-in form.

import { html, nothing, type TemplateResult } from 'lit';
import type { AuthSnapshot, AuthState } from '../../core/types.ts';
import { button } from './buttons.ts';
import { lockIcon } from './icons.ts';
import type { Commands, WidgetState } from './state.ts';

/** States in which sign-in is in progress. */
const UNDER_WAY: readonly AuthState[] = [
  'popup',
  'popup-lost',
  'exchange',
  'cooling',
  'redirecting',
  'verify',
  'wait',
];

/** True if the panel is shown. Pages with `getToken` see it only after an error. */
export const needsPanel = (auth: AuthSnapshot): boolean =>
  (UNDER_WAY.includes(auth.state) && auth.mode !== 'token') ||
  (auth.state === 'prompt' && (auth.required || auth.error !== undefined));

/** The panel, or nothing. */
export function signInPanel(state: WidgetState, commands: Commands): TemplateResult | typeof nothing {
  const { auth } = state.snapshot;
  const { messages } = state;
  const isWaiting = auth.state === 'popup' || auth.state === 'popup-lost';
  if (state.hasLogin && !isWaiting) {
    return html`<div class="panel sign-in" part="sign-in login" data-state=${auth.state}>
      <slot name="login"><p class="text">${messages.signingIn}</p></slot>
    </div>`;
  }
  if (!needsPanel(auth)) return nothing;
  const { title, text } = wordsOf(state);
  const label = isWaiting
    ? messages.openAgain
    : auth.error?.code === 'popup-blocked' || auth.error?.code === 'host-token-failed'
      ? messages.tryAgain
      : messages.signIn;
  const isOffline = auth.state === 'cooling' && auth.error?.code === 'offline';
  const kind = auth.state === 'prompt' ? 'primary' : undefined;
  const canSignIn = isWaiting || isOffline || auth.state === 'prompt';
  // "Cancel" must not take the place of "Sign in": the second click of a double-click would cancel the sign-in.
  return html`<div class="panel sign-in ${auth.error && auth.state !== 'cooling' ? 'danger' : ''}"
    part="sign-in ${auth.state}" role="group" aria-label=${title} tabindex="-1" data-state=${auth.state}>
    <span class="badge ${auth.state === 'prompt' ? '' : 'busy'}">${lockIcon}</span>
    <div class="body">
      <p class="title">${title}</p>
      ${text ? html`<p class="text" part=${auth.error ? 'error' : 'sign-in-text'}>${text}</p>` : nothing}
    </div>
    <div class="choices">
      ${
        auth.state === 'prompt'
          ? nothing
          : button('cancel-sign-in', messages.cancelSignIn, () => commands.cancelSignIn(), { kind: 'plain' })
      }
      ${
        canContinueHere(state)
          ? button('continue-here', messages.continueHere, () => commands.signIn('redirect'), {
              kind: 'plain',
            })
          : nothing
      }
      ${canSignIn ? button('sign-in', label, () => commands.signIn(), { kind }) : nothing}
    </div>
  </div>`;
}

/** True if the panel offers a redirect: the window was blocked, and no file would be lost. */
const canContinueHere = ({ snapshot: { auth, files } }: WidgetState): boolean =>
  auth.state === 'prompt' &&
  auth.error?.code === 'popup-blocked' &&
  files.every(({ phase }) => phase === 'done' || phase === 'canceled');

function wordsOf({ snapshot: { auth }, messages, secondsUntil }: WidgetState): {
  readonly title: string;
  readonly text: string;
} {
  switch (auth.state) {
    case 'popup':
      return { title: messages.popupTitle, text: messages.popupText };
    case 'popup-lost':
      return { title: messages.popupLostTitle, text: messages.popupLostText };
    case 'cooling': {
      const pauseInS = secondsUntil(auth.retryAtMs);
      const timeLeft = pauseInS > 0 ? messages.seconds(pauseInS) : undefined;
      const text = auth.error?.code === 'offline' ? messages.offline : messages.coolingText(timeLeft);
      return { title: messages.coolingTitle, text };
    }
    case 'prompt': {
      const invitation = auth.mode === 'redirect' ? messages.redirectText : messages.signInText;
      return { title: messages.signInTitle, text: auth.error ? messages[auth.error.code] : invitation };
    }
    default:
      return { title: messages.signingIn, text: '' };
  }
}

// Test cases of the sign-in panel: input of the widget, and expected outline (test/ui/outline.ts).

import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { AuthSnapshot, ErrorCode, FileSnapshot } from '../../src/index.ts';
import { ENGLISH } from '../../src/ui/messages.ts';
import type { WidgetState } from '../../src/ui/views/state.ts';
import type { Cases } from './row-cases.ts';
import type { Shown } from './show.ts';

const A = file('a.pdf', 'queued', 1000);

const auth = (
  auth: Partial<AuthSnapshot>,
  more: Partial<WidgetState> = {},
  files: readonly FileSnapshot[] = [A],
): Shown => ({ snapshot: snapshot(files, { auth: { required: true, ...auth } }), more });

const error = (code: ErrorCode): { error: NonNullable<AuthSnapshot['error']> } => ({
  error: { code, retryable: true },
});

export const SIGN_IN: Cases<Shown> = {
  'signed out': [auth({ state: 'signed-out' }), []],
  'signed in': [auth({ state: 'signed-in' }), []],
  silent: [auth({ state: 'silent' }), []],
  'asking the page': [auth({ state: 'asking-host', mode: 'token' }), []],
  'prompt that is not required': [auth({ state: 'prompt', required: false }), []],
  'prompt that is not required, after a failure': [
    auth({ state: 'prompt', required: false, ...error('popup-closed') }),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      'error The sign-in window was closed. Sign in to continue.',
      'button sign-in-button Sign in',
    ],
  ],
  prompt: [
    auth({ state: 'prompt' }),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      'sign-in-text Sign-in opens in a new window. Your files stay on this page.',
      'button sign-in-button Sign in',
    ],
  ],
  'prompt in redirect mode': [
    auth({ state: 'prompt', mode: 'redirect' }),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      "sign-in-text You'll leave this page to sign in. When you return, you may need to choose unfinished files again.",
      'button sign-in-button Sign in',
    ],
  ],
  'prompt after the window was blocked, with files': [
    auth({ state: 'prompt', ...error('popup-blocked') }),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      'error Your browser blocked the sign-in window. Allow pop-ups for this page and try again.',
      'button sign-in-button Try again',
    ],
  ],
  'prompt after the window was blocked, with nothing to lose': [
    auth({ state: 'prompt', ...error('popup-blocked') }, {}, [
      file('d', 'done', 1),
      file('c', 'canceled', 1),
    ]),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      'error Your browser blocked the sign-in window. Allow pop-ups for this page and try again.',
      'button continue-here-button Continue in this tab',
      'button sign-in-button Try again',
    ],
  ],
  'prompt after another failure, with nothing to lose': [
    auth({ state: 'prompt', ...error('popup-closed') }, {}, []),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      'error The sign-in window was closed. Sign in to continue.',
      'button sign-in-button Sign in',
    ],
  ],
  'prompt after the page failed': [
    auth({ state: 'prompt', mode: 'token', ...error('host-token-failed') }),
    [
      'sign-in prompt label=Sign in to upload',
      'title Sign in to upload',
      "error This page couldn't sign you in. Try again.",
      'button sign-in-button Try again',
    ],
  ],
  popup: [
    auth({ state: 'popup' }),
    [
      'sign-in popup label=Continue in the sign-in window',
      'title Continue in the sign-in window',
      'sign-in-text Finish signing in there, then return to this page.',
      'button cancel-sign-in-button Cancel',
      'button sign-in-button Open again',
    ],
  ],
  'popup, blocked and open again': [
    auth({ state: 'popup', ...error('popup-blocked') }, {}, []),
    [
      'sign-in popup label=Continue in the sign-in window',
      'title Continue in the sign-in window',
      'error Finish signing in there, then return to this page.',
      'button cancel-sign-in-button Cancel',
      'button sign-in-button Open again',
    ],
  ],
  'popup in token mode': [auth({ state: 'popup', mode: 'token' }), []],
  'popup-lost': [
    auth({ state: 'popup-lost' }),
    [
      'sign-in popup-lost label=Waiting for sign-in',
      'title Waiting for sign-in',
      'sign-in-text If you closed the sign-in window, open it again.',
      'button cancel-sign-in-button Cancel',
      'button sign-in-button Open again',
    ],
  ],
  redirecting: [
    auth({ state: 'redirecting' }),
    [
      'sign-in redirecting label=Signing you in…',
      'title Signing you in…',
      'button cancel-sign-in-button Cancel',
    ],
  ],
  exchange: [
    auth({ state: 'exchange', required: false }),
    [
      'sign-in exchange label=Signing you in…',
      'title Signing you in…',
      'button cancel-sign-in-button Cancel',
    ],
  ],
  verify: [
    auth({ state: 'verify' }),
    ['sign-in verify label=Signing you in…', 'title Signing you in…', 'button cancel-sign-in-button Cancel'],
  ],
  wait: [
    auth({ state: 'wait' }),
    ['sign-in wait label=Signing you in…', 'title Signing you in…', 'button cancel-sign-in-button Cancel'],
  ],
  cooling: [
    auth({ state: 'cooling', ...error('rate-limited') }),
    [
      'sign-in cooling label=Waiting to sign you in',
      'title Waiting to sign you in',
      'error Trying again soon.',
      'button cancel-sign-in-button Cancel',
    ],
  ],
  'cooling for a while': [
    auth({ state: 'cooling', ...error('rate-limited') }, { secondsUntil: () => 30 }),
    [
      'sign-in cooling label=Waiting to sign you in',
      'title Waiting to sign you in',
      'error Trying again in about 30 s.',
      'button cancel-sign-in-button Cancel',
    ],
  ],
  'cooling for a while, in another language': [
    auth(
      { state: 'cooling', ...error('rate-limited') },
      { secondsUntil: () => 30, messages: { ...ENGLISH, seconds: (count) => `${count} sekunder` } },
    ),
    [
      'sign-in cooling label=Waiting to sign you in',
      'title Waiting to sign you in',
      'error Trying again in about 30 sekunder.',
      'button cancel-sign-in-button Cancel',
    ],
  ],
  'cooling offline': [
    auth({ state: 'cooling', ...error('offline') }),
    [
      'sign-in cooling label=Waiting to sign you in',
      'title Waiting to sign you in',
      "error You're offline. The upload resumes when you're back online.",
      'button cancel-sign-in-button Cancel',
      'button sign-in-button Sign in',
    ],
  ],
  form: [
    auth({ state: 'prompt', mode: 'local' }, { hasLogin: true }),
    ['sign-in login', 'text Signing you in…'],
  ],
  'form, its window open': [
    auth({ state: 'popup', mode: 'local' }, { hasLogin: true }),
    [
      'sign-in popup label=Continue in the sign-in window',
      'title Continue in the sign-in window',
      'sign-in-text Finish signing in there, then return to this page.',
      'button cancel-sign-in-button Cancel',
      'button sign-in-button Open again',
    ],
  ],
  'form, its window perhaps closed': [
    auth({ state: 'popup-lost', mode: 'local' }, { hasLogin: true }),
    [
      'sign-in popup-lost label=Waiting for sign-in',
      'title Waiting for sign-in',
      'sign-in-text If you closed the sign-in window, open it again.',
      'button cancel-sign-in-button Cancel',
      'button sign-in-button Open again',
    ],
  ],
};

// Shows any step of the sign-in form without a service, for screenshots and tests: `?state=totp&dir=rtl&zoom=2`.
import { render } from 'lit';
import { ENGLISH_LOGIN } from '../../../src/locales/en-login.ts';
import { adopt } from '../../../src/ui/styles/css.ts';
import { loginStyles } from '../../../src/ui/styles/login-styles.ts';
import { type LoginView, loginStep } from '../../../src/ui/views/login-step.ts';

const method = (family: string, more: object = {}): object => ({
  id: family,
  family,
  needsStart: false,
  ...more,
});
const METHODS = [
  method('passkey'),
  method('push'),
  method('totp'),
  method('email', { hint: 'm••••@example.com', needsStart: true }),
  method('sms', { hint: '••• •• 42', needsStart: true }),
  method('recovery'),
];
const failed = (code: string): object => ({ error: { code, retryable: true } });
const challenge = (family: string, more: object = {}): object => ({
  challenge: {
    methods: METHODS,
    method: METHODS.find((one) => (one as { id: string }).id === family),
    ...more,
  },
});

/** States of the form by name, each as its differences from the default state in `show`. */
export const GALLERY: Readonly<Record<string, { auth?: object; [part: string]: unknown }>> = {
  password: {},
  'password-shown': { isPasswordShown: true, email: 'mia@example.com' },
  'password-sent': { auth: { state: 'login' }, email: 'mia@example.com' },
  rejected: { auth: failed('credentials-rejected'), email: 'mia@example.com' },
  locked: { auth: failed('account-locked'), email: 'lou@example.com' },
  expired: { auth: failed('challenge-expired'), email: 'tom@example.com' },
  unsupported: { auth: failed('method-unsupported'), email: 'uma@example.com' },
  'other-jar': { auth: failed('sign-in-required') },
  network: { auth: failed('network'), email: 'mia@example.com' },
  idps: {
    idps: [
      { id: 'local', label: 'Staff', kind: 'local' },
      { id: 'guests', label: 'Guests', kind: 'local' },
      { id: 'corp', label: 'Corp', kind: 'federated' },
    ],
  },
  framed: { isFramed: true },
  choose: { auth: { state: 'choose' }, ...challenge('') },
  denied: { auth: { state: 'choose', ...failed('challenge-denied') }, ...challenge('') },
  totp: { auth: { state: 'answer' }, ...challenge('totp'), email: 'tom@example.com' },
  email: {
    auth: { state: 'answer' },
    ...challenge('email', { delivery: 'm••••@example.com' }),
    email: 'mia@example.com',
    resendInS: 24,
  },
  'code-wrong': {
    auth: { state: 'answer', ...failed('challenge-failed') },
    ...challenge('sms', { delivery: '••• •• 42', attemptsLeft: 1 }),
    email: 'mia@example.com',
  },
  'code-sent': { auth: { state: 'verify' }, ...challenge('totp'), email: 'tom@example.com' },
  recovery: { auth: { state: 'answer' }, ...challenge('recovery'), email: 'mia@example.com' },
  passkey: { auth: { state: 'answer' }, ...challenge('passkey') },
  'passkey-unavailable': {
    auth: { state: 'answer', ...failed('passkey-unavailable') },
    ...challenge('passkey'),
  },
  push: { auth: { state: 'wait' }, ...challenge('push', { number: 42 }) },
  busy: { auth: { state: 'silent' } },
  cooling: { auth: { state: 'cooling', ...failed('rate-limited') }, coolInS: 27 },
  done: { auth: { state: 'signed-in' } },
};

const form = document.createElement('secure-uploader-login');

/** Renders the form in the state of this name. */
function show(state: string): void {
  const { auth = {}, ...more } = GALLERY[state] ?? {};
  const usual = {
    auth: { state: 'prompt', mode: 'local', required: true, ...auth },
    challenge: undefined,
    messages: ENGLISH_LOGIN,
    fields: [{ name: 'password' }],
    idps: [],
    email: '',
    isFramed: false,
    hasWindow: true,
    isPasswordShown: false,
    resendInS: 0,
    coolInS: 0,
    id: 'form',
    session: {},
    form: {},
  };
  render(loginStep({ ...usual, ...more } as unknown as LoginView), form);
}

/** Global variable that tests use in the page. */
export const gallery = { states: Object.keys(GALLERY), show };
Object.assign(globalThis, { gallery });

const query = new URLSearchParams(location.search);
document.documentElement.dir = query.get('dir') ?? 'ltr';
document.documentElement.style.cssText = `font: ${Number(query.get('zoom') ?? 1) * 100}%/1.45 system-ui, sans-serif; color-scheme: light dark`;
adopt(document, [loginStyles]);
document.body.append(form);
show(query.get('state') ?? 'password');

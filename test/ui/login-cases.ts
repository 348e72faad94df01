// Steps of the sign-in form, each with its state and one line for each expected heading, message, field and button.

import type { AuthSnapshot, ErrorCode } from '../../src/index.ts';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import type { LoginView } from '../../src/ui/views/login-step.ts';

type Challenge = NonNullable<LoginView['challenge']>;
type Method = Challenge['methods'][number];

/** State of the form in a step. Omitted fields have the defaults of test/ui/login-view.test.ts. */
export interface Step extends Partial<Omit<LoginView, 'auth' | 'form'>> {
  readonly state: AuthSnapshot['state'];
  readonly error?: ErrorCode;
  readonly said?: string;
}

/** Returns the view of `step`. `note` returns the callback with this name. */
export function viewOf(
  { state, error, said, ...more }: Step,
  note: (name: string) => (...args: unknown[]) => void,
): LoginView {
  return {
    session: { signIn: note('signIn'), cancel: note('cancel') },
    form: { said, act: note('act'), usePasskey: async () => note('usePasskey')() },
    auth: { state, mode: 'local', required: true, ...(error && { error: { code: error, retryable: true } }) },
    challenge: undefined,
    messages: ENGLISH_LOGIN,
    fields: [{ name: 'password' }],
    idps: [],
    email: '',
    id: 'x',
    isFramed: false,
    hasWindow: true,
    isPasswordShown: false,
    resendInS: 0,
    coolInS: 0,
    onLogIn: (event: SubmitEvent) => {
      event.preventDefault();
      note('onLogIn')();
    },
    onAnswer: (event: SubmitEvent) => {
      event.preventDefault();
      note('onAnswer')();
    },
    onType: note('onType'),
    onToggle: note('onToggle'),
    ...more,
  } as unknown as LoginView;
}

export const method = (family: string, more: Partial<Method> = {}): Method =>
  ({ id: family, family, needsStart: false, ...more }) as Method;
export const challenge = (more: Partial<Challenge>): Challenge => ({ methods: [], ...more }) as Challenge;
export const SMS = method('sms', { needsStart: true, hint: '···42' });
export const TOTP = method('totp');
export const PASSKEY = method('passkey', { needsStart: true });
export const NOTED = method('code', { label: 'Token card' });

const EMAIL = 'field Email address email/email/username required';
const PASSWORD = 'field Password password/password/current-password required';
const CODE = 'field Code text/code/one-time-code inputmode=numeric required';
const FORM = [EMAIL, PASSWORD, 'button Show password', 'submit Sign in'];
const problem = (code: ErrorCode): string => `status ${ENGLISH_LOGIN[code]}`;

export const STEPS: Readonly<Record<string, readonly [Step, readonly string[]]>> = {
  'asks for credentials': [{ state: 'prompt' }, ['title Sign in', 'status', ...FORM]],
  'asks for credentials after signing out': [{ state: 'signed-out' }, ['title Sign in', 'status', ...FORM]],
  'keeps the form while credentials are checked': [
    { state: 'login', email: 'a@b.c' },
    [
      'title Sign in',
      'status',
      `${EMAIL} value=a@b.c`,
      ...FORM.slice(1, 3),
      'submit One moment… (disabled)',
      'button Cancel',
    ],
  ],
  'shows the password': [
    { state: 'prompt', isPasswordShown: true },
    [
      'title Sign in',
      'status',
      EMAIL,
      PASSWORD.replace('password/p', 'text/p'),
      'button Hide password',
      'submit Sign in',
    ],
  ],
  'shows that the credentials were wrong': [
    { state: 'prompt', error: 'credentials-rejected' },
    [
      'title Sign in',
      problem('credentials-rejected'),
      `${EMAIL} invalid`,
      `${PASSWORD} invalid`,
      ...FORM.slice(2),
    ],
  ],
  'shows the message of the service': [
    { state: 'prompt', error: 'credentials-rejected', said: 'Not you.' },
    ['title Sign in', 'status Not you.', `${EMAIL} invalid`, `${PASSWORD} invalid`, ...FORM.slice(2)],
  ],
  'shows nothing after the user canceled': [
    { state: 'prompt', error: 'canceled' },
    ['title Sign in', 'status', ...FORM],
  ],
  'disables sign-in to a locked account': [
    { state: 'prompt', error: 'account-locked' },
    ['title Sign in', problem('account-locked'), ...FORM.slice(0, 3), 'submit Sign in (disabled)'],
  ],
  'asks for other credentials': [
    {
      state: 'prompt',
      fields: [
        { name: 'pin', label: 'PIN', type: 'text', autocomplete: 'off' },
        { name: 'secret', label: 'Secret', required: false },
      ],
    },
    [
      'title Sign in',
      'status',
      EMAIL,
      'field PIN text/pin/off required',
      'field Secret password/secret/current-password',
      'button Show password',
      'submit Sign in',
    ],
  ],
  'offers one local account without a choice, and others by their page': [
    {
      state: 'prompt',
      idps: [
        { id: 'a', label: 'Staff', kind: 'local' },
        { id: 'c', label: 'Corp', kind: 'federated' },
      ],
    },
    ['title Sign in', 'status', ...FORM, 'button Sign in with Corp'],
  ],
  'offers a choice of local accounts': [
    {
      state: 'prompt',
      idps: [
        { id: 'a', label: 'Staff', kind: 'local' },
        { id: 'b', label: 'Guests', kind: 'local' },
      ],
    },
    ['title Sign in', 'status', ...FORM.slice(0, 3), 'select Account type StaffGuests', 'submit Sign in'],
  ],
  'asks for no password on an embedded page': [
    { state: 'prompt', isFramed: true },
    ['title Sign in', 'status', ENGLISH_LOGIN.framed, 'button Open sign-in window'],
  ],
  'offers no window if there is none': [
    { state: 'prompt', isFramed: true, hasWindow: false },
    ['title Sign in', 'status', ENGLISH_LOGIN.framed],
  ],
  'offers a window if the browser isolates the sign-in page': [
    { state: 'prompt', error: 'sign-in-required' },
    ['title Sign in', `status ${ENGLISH_LOGIN.otherJar}`, ...FORM, 'button Open sign-in window'],
  ],
  'shows only that sign-in is required if there is no window': [
    { state: 'prompt', error: 'sign-in-required', hasWindow: false },
    ['title Sign in', problem('sign-in-required'), ...FORM],
  ],
  ...Object.fromEntries(
    (['step-unsupported', 'method-unsupported', 'passkey-unavailable'] as const).map((error) => [
      `offers a window after ${error}`,
      [{ state: 'prompt', error }, ['title Sign in', problem(error), ...FORM, 'button Open sign-in window']],
    ]),
  ),
  'offers the verification methods': [
    { state: 'choose', challenge: challenge({ methods: [SMS, NOTED] }) },
    [
      "title How do you want to verify it's you?",
      'status',
      'button Code by text message ···42',
      'button Token card',
      'button Start over',
    ],
  ],
  'asks for a code that was sent': [
    {
      state: 'answer',
      email: 'a@b.c',
      challenge: challenge({ method: SMS, methods: [SMS, TOTP], delivery: '+1 ···42' }),
    },
    [
      'title Code by text message',
      'status',
      'Sent to +1 ···42.',
      'field Email address email/email/username required readonly value=a@b.c',
      CODE,
      'submit Confirm',
      'button Send again',
      'button Try another way',
      'button Start over',
    ],
  ],
  'disables sending another code too soon': [
    { state: 'answer', resendInS: 7, challenge: challenge({ method: SMS, methods: [SMS] }) },
    [
      'title Code by text message',
      'status',
      CODE,
      'submit Confirm',
      'button Send again in 7 s (disabled)',
      'button Start over',
    ],
  ],
  'asks for a code of an authenticator app': [
    { state: 'answer', challenge: challenge({ method: TOTP, methods: [TOTP] }) },
    ['title Code from your authenticator app', 'status', CODE, 'submit Confirm', 'button Start over'],
  ],
  'asks for a code if the service does not say which': [
    { state: 'answer', challenge: challenge({}) },
    ['title Code', 'status', CODE, 'submit Confirm', 'button Cancel'],
  ],
  'asks for a recovery code': [
    { state: 'answer', challenge: challenge({ method: method('recovery') }) },
    ['title Recovery code', 'status', CODE.replace('numeric', 'text'), 'submit Confirm', 'button Cancel'],
  ],
  'asks for a code with letters': [
    { state: 'answer', challenge: challenge({ method: TOTP, codeKind: 'alphanumeric' }) },
    [
      'title Code from your authenticator app',
      'status',
      CODE.replace('numeric', 'text'),
      'submit Confirm',
      'button Cancel',
    ],
  ],
  'shows that the code was wrong, and the attempts left': [
    {
      state: 'answer',
      email: 'a@b.c',
      error: 'challenge-failed',
      challenge: challenge({ method: TOTP, attemptsLeft: 1 }),
    },
    [
      'title Code from your authenticator app',
      `${problem('challenge-failed')} 1 attempt left.`,
      'field Email address email/email/username required readonly value=a@b.c',
      `${CODE} invalid`,
      'submit Confirm',
      'button Cancel',
    ],
  ],
  'shows that the code was wrong': [
    { state: 'answer', error: 'challenge-failed', challenge: challenge({ method: TOTP }) },
    [
      'title Code from your authenticator app',
      problem('challenge-failed'),
      `${CODE} invalid`,
      'submit Confirm',
      'button Cancel',
    ],
  ],
  'shows no attempts left after another failure': [
    { state: 'answer', error: 'network', challenge: challenge({ method: TOTP, attemptsLeft: 1 }) },
    ['title Code from your authenticator app', problem('network'), CODE, 'submit Confirm', 'button Cancel'],
  ],
  'keeps the code while it is checked': [
    { state: 'verify', challenge: challenge({ method: SMS, methods: [SMS, TOTP] }) },
    [
      'title Code by text message',
      'status',
      CODE,
      'submit One moment… (disabled)',
      'button Try another way',
      'button Start over',
    ],
  ],
  'asks for a passkey': [
    { state: 'answer', challenge: challenge({ method: PASSKEY, methods: [PASSKEY, SMS] }) },
    ['title Passkey', 'status', 'button Use passkey', 'button Try another way', 'button Start over'],
  ],
  'waits while the passkey is checked': [
    { state: 'verify', challenge: challenge({ method: PASSKEY }) },
    ['title Passkey', 'status', 'button Use passkey (disabled)', 'button Cancel'],
  ],
  'waits for an approval on a phone': [
    { state: 'wait', challenge: challenge({ method: method('push'), methods: [SMS, TOTP] }) },
    [
      'title Approve on your phone',
      'status',
      ENGLISH_LOGIN.waitText,
      'button Try another way',
      'button Start over',
    ],
  ],
  'shows the number to choose on the phone': [
    { state: 'wait', challenge: challenge({ method: method('push'), number: '42' }) },
    [
      'title Approve on your phone',
      'status',
      'Select 42 on your phone.',
      '42',
      ENGLISH_LOGIN.waitText,
      'button Cancel',
    ],
  ],
  'shows that a user is signed in': [{ state: 'signed-in' }, ["title You're signed in.", 'status']],
  'waits for a running request': [{ state: 'exchange' }, ['title One moment…', 'status', 'button Cancel']],
  'counts down while the service is busy': [
    { state: 'cooling', error: 'rate-limited', coolInS: 5 },
    ['title One moment…', problem('rate-limited'), 'timer 5 s', 'button Cancel'],
  ],
  'counts down to the last second': [
    { state: 'cooling', error: 'rate-limited', coolInS: 1 },
    ['title One moment…', problem('rate-limited'), 'timer 1 s', 'button Cancel'],
  ],
};

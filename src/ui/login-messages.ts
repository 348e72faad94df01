// Every word of the sign-in form, in English. A page overrides any of them through its `messages` property.

import type { Method } from '../engine/sign-in.ts';
import { ENGLISH, type ErrorMessages } from './messages.ts';

export interface LoginMessages extends ErrorMessages {
  readonly loginTitle: string;
  readonly email: string;
  readonly password: string;
  readonly show: string;
  readonly hide: string;
  readonly logIn: string;
  readonly signInWith: (label: string) => string;
  readonly account: string;
  readonly busy: string;
  readonly chooseTitle: string;
  readonly methods: Readonly<Record<Method['family'], string>>;
  readonly codeTitle: Readonly<Record<Method['family'], string>>;
  readonly code: string;
  readonly sentTo: (where: string) => string;
  readonly attemptsLeft: (count: number) => string;
  readonly verify: string;
  readonly usePasskey: string;
  readonly waitText: string;
  readonly waitNumber: (number: string) => string;
  readonly sendAgain: string;
  readonly sendAgainIn: (seconds: number) => string;
  readonly otherMethod: string;
  readonly startOver: string;
  readonly cancel: string;
  readonly inWindow: string;
  readonly otherJar: string;
  readonly framed: string;
  readonly cooling: (seconds: number) => string;
  readonly done: string;
}

export const ENGLISH_LOGIN: LoginMessages = Object.freeze<LoginMessages>({
  ...ENGLISH,
  loginTitle: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  show: 'Show password',
  hide: 'Hide password',
  logIn: 'Sign in',
  signInWith: (label) => `Sign in with ${label}`,
  account: 'Account',
  busy: 'One moment…',
  chooseTitle: 'How do you want to confirm that it is you?',
  methods: {
    passkey: 'Passkey',
    push: 'Approve on your phone',
    totp: 'Code from your authenticator app',
    email: 'Code by e-mail',
    sms: 'Code by text message',
    recovery: 'Recovery code',
    code: 'Code',
  },
  codeTitle: {
    passkey: 'Use your passkey',
    push: 'Approve on your phone',
    totp: 'Enter the code from your app',
    email: 'Enter the code from the e-mail',
    sms: 'Enter the code from the message',
    recovery: 'Enter a recovery code',
    code: 'Enter the code',
  },
  code: 'Code',
  sentTo: (where) => `Sent to ${where}.`,
  attemptsLeft: (count) => (count === 1 ? 'One attempt is left.' : `${count} attempts are left.`),
  verify: 'Confirm',
  usePasskey: 'Use passkey',
  waitText: 'Open the app on your phone and approve. This goes on by itself.',
  waitNumber: (number) => `Choose ${number} on your phone.`,
  sendAgain: 'Send again',
  sendAgainIn: (seconds) => `Send again in ${seconds} s`,
  otherMethod: 'Another way',
  startOver: 'Start over',
  cancel: 'Cancel',
  inWindow: 'Sign in in a window',
  otherJar: 'Your browser keeps this sign-in apart. Sign in in a window instead.',
  framed: 'For your safety, passwords are not asked for inside another page. Sign in in a window instead.',
  cooling: (seconds) => `The service is busy. It goes on in ${seconds} s.`,
  done: 'You are signed in.',
});

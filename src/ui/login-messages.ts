// Every word of the sign-in form, in English. A page overrides any of them through its `messages` property.

import { ENGLISH, type Messages } from './messages.ts';

const OWN = {
  email: 'E-mail address',
  password: 'Password',
  show: 'Show password',
  hide: 'Hide password',
  logIn: 'Sign in',
  signInWith: (label: string) => `Sign in with ${label}`,
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
  code: 'Code',
  sentTo: (where: string) => `Sent to ${where}.`,
  attemptsLeft: (count: number) => (count === 1 ? 'One attempt is left.' : `${count} attempts are left.`),
  verify: 'Confirm',
  usePasskey: 'Use passkey',
  waitText: 'Open the app on your phone and approve. This goes on by itself.',
  waitNumber: (number: string) => `Choose ${number} on your phone.`,
  sendAgain: 'Send again',
  sendAgainIn: (seconds: number) => `Send again in ${seconds} s`,
  otherMethod: 'Another way',
  startOver: 'Start over',
  inWindow: 'Sign in in a window',
  otherJar: 'Your browser keeps this sign-in apart. Sign in in a window instead.',
  framed: 'Passwords are not asked for inside another page. Sign in in a window instead.',
  shownElsewhere: 'Sign in by the form that this page shows already.',
  done: 'You are signed in.',
};

/** The texts of the form, and those that it shares with the widget. */
export type LoginMessages = Messages & Readonly<typeof OWN>;

/** The English ones, complete. */
export const ENGLISH_LOGIN: LoginMessages = Object.freeze({ ...ENGLISH, ...OWN });

// English texts of the sign-in form. A page can override each text through the element's property `messages`.

import type { LoginMessages } from '../core/messages.ts';
import { ENGLISH } from './en.ts';

/** All texts of the sign-in form in English. */
export const ENGLISH_LOGIN: LoginMessages = Object.freeze<LoginMessages>({
  ...ENGLISH,
  email: 'Email address',
  password: 'Password',
  show: 'Show password',
  hide: 'Hide password',
  logIn: 'Sign in',
  signInWith: (label) => `Sign in with ${label}`,
  account: 'Account type',
  busy: 'One moment…',
  chooseTitle: "How do you want to verify it's you?",
  methods: {
    passkey: 'Passkey',
    push: 'Approve on your phone',
    totp: 'Code from your authenticator app',
    email: 'Code by email',
    sms: 'Code by text message',
    recovery: 'Recovery code',
    code: 'Code',
  },
  code: 'Code',
  sentTo: (where) => `Sent to ${where}.`,
  attemptsLeft: (count) => (count === 1 ? '1 attempt left.' : `${count} attempts left.`),
  verify: 'Confirm',
  usePasskey: 'Use passkey',
  waitText: 'Open the app on your phone and approve the request. This page updates automatically.',
  waitNumber: (number) => `Select ${number} on your phone.`,
  sendAgain: 'Send again',
  sendAgainIn: (seconds) => `Send again in ${seconds} s`,
  otherMethod: 'Try another way',
  startOver: 'Start over',
  inWindow: 'Open sign-in window',
  otherJar: "Your browser doesn't support signing in here. Use the sign-in window instead.",
  framed: "For your security, you can't sign in on an embedded page. Open the page in its own tab.",
  shownElsewhere: 'Use the sign-in form already shown on this page.',
});

// Warns about texts of the page (`messages`) that the element does not have, or cannot use. Loaded only on pages that set texts.

import type { FormMessages } from '../core/messages.ts';
import { warnOnceHere } from '../core/warn.ts';
import { ENGLISH } from '../locales/en.ts';

/** Types of the texts of the sign-in form. Its texts are in a part that only pages with the form load. */
export const LOGIN_TEXT_TYPES: Readonly<Record<keyof FormMessages, 'string' | 'function' | 'object'>> = {
  email: 'string',
  password: 'string',
  show: 'string',
  hide: 'string',
  logIn: 'string',
  signInWith: 'function',
  account: 'string',
  busy: 'string',
  chooseTitle: 'string',
  methods: 'object',
  code: 'string',
  sentTo: 'function',
  attemptsLeft: 'function',
  verify: 'string',
  usePasskey: 'string',
  waitText: 'string',
  waitNumber: 'function',
  sendAgain: 'string',
  sendAgainIn: 'function',
  otherMethod: 'string',
  startOver: 'string',
  inWindow: 'string',
  otherJar: 'string',
  framed: 'string',
  shownElsewhere: 'string',
};

export function warnOfMessages(messages: unknown): void {
  if (typeof messages !== 'object' || messages === null || Array.isArray(messages)) {
    warnOnceHere('messages must be an object such as { chooseFile: "…" }. For a language, see docs/i18n.md.');
    return;
  }
  const types = new Map<string, string>(Object.entries(LOGIN_TEXT_TYPES));
  for (const [name, text] of Object.entries(ENGLISH)) types.set(name, typeof text);
  for (const [name, text] of Object.entries(messages)) {
    const type = types.get(name);
    if (type === undefined) {
      const similar = [...types.keys()].find((one) => plain(one) === plain(name));
      warnOnceHere(
        `The text messages.${name} does not exist. ${similar ? `Did you mean ${similar}?` : 'See docs/i18n.md.'}`,
      );
    } else if (typeof text !== type)
      warnOnceHere(`The text messages.${name} must be of type ${type}, not ${typeof text}.`);
  }
}

const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();

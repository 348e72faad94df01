// The devices of demo users (mail, authenticator and phone), for tests. Only in test mode.
import { listMessages } from './demo-page.ts';
import { createTestPasskey, currentTotp, factorsOf, type TestPasskey } from './factors.ts';
import type { Parts } from './parts.ts';
import { findNamed, type User } from './seed.ts';

/** The devices of all demo users. `user` is an id, an email address, or the part of the email address before the `@`. */
export interface People {
  /** Resolves with a valid TOTP code. */
  totp(user: string): Promise<string>;
  recoveryCodes(user: string): Promise<string[]>;
  /** Resolves with the code in the newest message, or with undefined if there is no message. */
  message(user: string, method: 'email' | 'sms'): Promise<string | undefined>;
  /** Approves or denies the newest open push request. Resolves with false if no push request is open. */
  answerPush(user: string, decision: 'approved' | 'denied'): Promise<boolean>;
  /** Registers a new passkey for a virtual authenticator. */
  addPasskey(user: string): Promise<TestPasskey>;
}

export function createPeople(parts: Parts): People {
  const find = (name: string): User => {
    if (!parts.settings.test) throw new Error('only with `test: true`');
    const user = findNamed(name);
    if (!user) throw new Error(`no such user: ${name}`);
    return user;
  };
  return {
    totp: async (name) => currentTotp(parts, find(name).id),
    recoveryCodes: async (name) => (await factorsOf(parts, find(name).id)).recoveryCodes,
    async message(name, method) {
      const user = find(name);
      const messages = await listMessages(parts);
      return messages.find(({ message }) => message.userId === user.id && message.method === method)?.message
        .text;
    },
    async answerPush(name, decision) {
      const user = find(name);
      const waiting = (await listMessages(parts)).find(
        ({ message }) => message.userId === user.id && message.method === 'push' && !message.decision,
      );
      if (!waiting) return false;
      await parts.tables.messages.update(waiting.id, (row) => (row ? { ...row, decision } : undefined));
      return true;
    },
    addPasskey: async (name) => createTestPasskey(parts, find(name).id),
  };
}

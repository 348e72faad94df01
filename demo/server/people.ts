// What tests need of the demo users: their devices (mail, authenticator and phone), and tokens. Only in test mode.
import { issueToken } from './accounts.ts';
import { listMessages } from './demo-page.ts';
import { createTestPasskey, currentTotp, factorsOf, type TestPasskey } from './factors.ts';
import type { Parts } from './parts.ts';
import { randomToken } from './seal.ts';
import { findNamed, type User } from './seed.ts';

/** The devices and tokens of all demo users. `user` is an id, an email address, or the part of the email address before the `@`. */
export interface People {
  /** Creates a bearer token without a sign-in. */
  createToken(user: string, lifetimeMs?: number): Promise<{ token: string; expires_at: string }>;
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
    async createToken(name, lifetimeMs = parts.settings.tokenLifetimeMs) {
      const expiresAt = parts.clock.now() + lifetimeMs;
      const { id: userId } = find(name);
      const login = { userId, deviceId: randomToken(), idp: 'test', expiresAt, keepUntil: expiresAt };
      await parts.tables.logins.put(login.deviceId, login);
      const issued = await issueToken(parts, login, lifetimeMs);
      return { token: issued.token, expires_at: issued.expiresAt };
    },
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

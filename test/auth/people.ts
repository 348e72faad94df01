// Secrets and answers of the demo users: password, codes, and decisions about push messages.
import { findReference } from '../service/reference.ts';

/** Current codes of a demo user, as the reference service reports them to tests. */
export interface Person {
  readonly totp: string;
  readonly recovery_codes: readonly string[];
  readonly email: string | null;
  readonly sms: string | null;
}

async function ask<T>(path: string, body?: unknown): Promise<T> {
  const { baseUrl } = await findReference();
  const headers = { 'content-type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${baseUrl}/_test/people/${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}

export const readUser = (user: string): Promise<Person> => ask(user);
export const answerPush = (user: string, decision: 'approved' | 'denied'): Promise<unknown> =>
  ask(`${user}/push`, { decision });

/** Resolves with the password that all demo users have. */
export async function password(): Promise<string> {
  const response = await fetch('/test-config');
  return ((await response.json()) as { seed: { password: string } }).seed.password;
}

// The sign-in form alone on a page, with a service whose responses the test sets.

import type { AdapterAnswer, AuthOptions } from '../../src/core/auth-options.ts';
import { defineLogin, type SecureUploaderLogin } from '../../src/ui/secure-uploader-login.ts';
import { settled, until } from '../support/collect.ts';

defineLogin();
defineLogin();

export interface Stage {
  readonly element: SecureUploaderLogin;
  /** Requests to the service, each with its step and body. */
  readonly sent: (readonly [step: string, body: Record<string, unknown>])[];
  /** Responds to the oldest pending request. */
  answer(answer: AdapterAnswer): Promise<void>;
}

const stages: Stage[] = [];
export const REJECTED = { status: 401, body: {} };
export const LOCKED = { status: 403, body: { error: 'locked' } };
export const SIGNED_IN = { status: 200, body: { status: 'ok' } };
export const challenge = (
  more: object = {},
  available_methods: readonly string[] = ['totp'],
): AdapterAnswer => ({
  status: 200,
  body: {
    status: 'challenge',
    challenge_token: 'c',
    available_methods,
    challenge: { code_length: 6, ...more },
  },
});

export async function stage(
  more: Partial<SecureUploaderLogin> = {},
  options: AuthOptions = {},
  attributes: readonly string[] = [],
): Promise<Stage> {
  const sent: Stage['sent'] = [];
  const waiting: ((answer: AdapterAnswer) => void)[] = [];
  const call = (step: string) => (body: Record<string, unknown>) => {
    sent.push([step, body]);
    return new Promise<AdapterAnswer>((resolve) => waiting.push(resolve));
  };
  const element = document.createElement('secure-uploader-login');
  for (const name of attributes) element.toggleAttribute(name, true);
  Object.assign(element, {
    baseUrl: `https://${crypto.randomUUID()}.test`,
    authOptions: { adapter: { login: call('login'), challenge: call('challenge') }, ...options },
    ...more,
  });
  document.body.append(element);
  await element.updateComplete;
  const made: Stage = {
    element,
    sent,
    async answer(answer) {
      await until(() => waiting.length > 0);
      waiting.shift()?.(answer);
      await settled();
      await element.updateComplete;
    },
  };
  stages.push(made);
  return made;
}

/** Removes all forms from the page; for `afterEach`. */
export function removeStages(): void {
  for (const { element } of stages.splice(0)) element.remove();
}

export const field = ({ element }: Stage, name: string): HTMLInputElement => {
  const found = element.querySelector<HTMLInputElement>(`[name=${name}]`);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};

export const title = ({ element }: Stage): string | undefined =>
  element.querySelector('h2')?.textContent ?? undefined;

export async function type(stage: Stage, name: string, value: string): Promise<void> {
  const input = field(stage, name);
  input.value = value;
  input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  await settled();
  await stage.element.updateComplete;
}

export async function submit(stage: Stage): Promise<void> {
  const note = (event: Event): void => {
    if (!event.defaultPrevented) throw new Error('the form would leave the page');
  };
  document.addEventListener('submit', note, { once: true });
  stage.element.querySelector('form')?.requestSubmit();
  await settled();
  await stage.element.updateComplete;
}

export async function logIn(stage: Stage, email = 'tom@example.com'): Promise<void> {
  await type(stage, 'email', email);
  await type(stage, 'password', 'secret');
  await submit(stage);
}

export const press = async ({ element }: Stage, label: string): Promise<void> => {
  const button = [...element.querySelectorAll('button')].find((each) => each.textContent?.trim() === label);
  if (!button) throw new Error(`there is no button "${label}"`);
  button.click();
  await element.updateComplete;
};

// Content of the sign-in form at each step, and the effects of its buttons.

import { expect } from '@open-wc/testing';
import { nothing, render } from 'lit';
import { loginStep } from '../../src/ui/views/login-step.ts';
import { challenge, NOTED, PASSKEY, SMS, STEPS, type Step, TOTP, viewOf } from './login-cases.ts';

const asked: unknown[][] = [];
const note =
  (name: string) =>
  (...args: unknown[]): void =>
    void asked.push([name, ...args]);

const clean = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim();

/** Returns one line about an input: the label, and the attributes that browsers and password managers use. */
function fieldLine(label: Element): string {
  const input = label.querySelector('input');
  if (!input) return `select ${clean(label.textContent)}`;
  const { type, name, required, readOnly, value, inputMode } = input;
  const autocomplete = input.getAttribute('autocomplete');
  const more = [
    inputMode && `inputmode=${inputMode}`,
    required ? 'required' : '',
    readOnly ? 'readonly' : '',
    input.ariaInvalid === 'true' ? 'invalid' : '',
    value && `value=${value}`,
  ];
  return ['field', clean(label.textContent), `${type}/${name}/${autocomplete}`, ...more]
    .filter(Boolean)
    .join(' ');
}

let root: HTMLElement;

/** Renders a step. Returns one line for each heading, message, field and button. */
function show(step: Step): string[] {
  asked.length = 0;
  render(loginStep(viewOf(step, note)), root);
  return [...root.querySelectorAll('h2, [role=status], p, label, button')].map((element) => {
    if (element.localName === 'h2') return `title ${clean(element.textContent)}`;
    if (element.localName === 'label') return fieldLine(element);
    if (!(element instanceof HTMLButtonElement))
      return [element.role, clean(element.textContent)].filter(Boolean).join(' ');
    const { type, disabled } = element;
    return [type === 'submit' ? 'submit' : 'button', clean(element.textContent), disabled ? '(disabled)' : '']
      .filter(Boolean)
      .join(' ');
  });
}

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
});
afterEach(() => {
  render(nothing, root);
  root.remove();
});

describe('the sign-in form', () => {
  for (const [title, [step, lines]] of Object.entries(STEPS))
    it(title, () => expect(show(step)).to.deep.equal(lines));

  for (const [name, step, expected] of [
    [
      'Sign in with Corp',
      { state: 'prompt', idps: [{ id: 'c', label: 'Corp', kind: 'federated' }] },
      ['signIn', 'popup', 'c'],
    ],
    ['Show password', { state: 'prompt' }, ['onToggle']],
    ['Open sign-in window', { state: 'prompt', isFramed: true }, ['signIn', 'popup']],
    [
      'Token card',
      { state: 'choose', challenge: challenge({ methods: [NOTED] }) },
      ['act', { type: 'pick', method: NOTED }],
    ],
    ['Send again', { state: 'answer', challenge: challenge({ method: SMS }) }, ['act', { type: 'resend' }]],
    [
      'Try another way',
      { state: 'answer', challenge: challenge({ method: SMS, methods: [SMS, TOTP] }) },
      ['act', { type: 'other-method' }],
    ],
    ['Cancel', { state: 'exchange' }, ['cancel']],
    ['Use passkey', { state: 'answer', challenge: challenge({ method: PASSKEY }) }, ['usePasskey']],
    ['Confirm', { state: 'answer', challenge: challenge({ method: TOTP }) }, ['onAnswer']],
    ['Sign in', { state: 'prompt' }, ['onLogIn']],
  ] as const)
    it(`has a button "${name}" with this effect`, () => {
      show(step as Step);
      for (const input of root.querySelectorAll('input'))
        input.value = input.type === 'email' ? 'a@b.c' : '1';
      const button = [...root.querySelectorAll('button')].find((each) => clean(each.textContent) === name);
      button?.click();
      expect(
        asked.map(([first, ...args]) => [first, ...args.filter((arg) => !(arg instanceof Event))]),
      ).to.deep.equal([expected]);
    });

  it('dispatches input, names its parts for screen readers, and sets the value of the account choice', () => {
    show({
      state: 'prompt',
      idps: [
        { id: 'a', label: 'A', kind: 'local' },
        { id: 'b', label: 'B', kind: 'local' },
      ],
    });
    const input = root.querySelector('input');
    input?.dispatchEvent(new InputEvent('input'));
    expect(asked.map(([name]) => name)).to.deep.equal(['onType']);
    expect(input?.getAttribute('aria-describedby')).to.equal(root.querySelector('[role=status]')?.id);
    expect(root.querySelector('section')?.getAttribute('aria-labelledby')).to.equal(
      root.querySelector('h2')?.id,
    );
    expect(root.querySelector<HTMLSelectElement>('[name=idp_id]')?.value).to.equal('a');
  });
});

// Where the focus of the sign-in form alone goes.

import { expect } from '@open-wc/testing';
import {
  challenge,
  field,
  logIn,
  REJECTED,
  removeStages,
  stage,
  submit,
  title,
  type,
} from './login-stage.ts';

afterEach(removeStages);

describe('the focus of the sign-in form', () => {
  const focused = (): string =>
    document.activeElement?.getAttribute('name') ?? document.activeElement?.localName ?? '';

  it('goes to the heading of a new step, and stays in its field while the user types', async () => {
    const made = await stage();
    field(made, 'email').focus();
    await type(made, 'email', 'tom@example.com');
    expect(focused()).to.equal('email');
    field(made, 'password').focus();
    await logIn(made);
    await made.answer(challenge());
    expect(focused()).to.equal('h2');
  });

  it('goes to the first field, once, of a form with focus-first', async () => {
    const made = await stage({}, {}, ['focus-first']);
    expect(focused()).to.equal('email');
    field(made, 'email').blur();
    await logIn(made);
    await made.answer(REJECTED);
    expect(document.activeElement).to.equal(document.body);
  });

  it('is not moved when the form appears, nor when it renders without a new step', async () => {
    const made = await stage();
    expect(document.activeElement).to.equal(document.body);
    field(made, 'password').focus();
    await logIn(made);
    await made.answer(REJECTED);
    field(made, 'email').focus();
    made.element.requestUpdate();
    await made.element.updateComplete;
    expect(focused()).to.equal('email');
  });

  it('goes to the invalid field, which is empty', async () => {
    const made = await stage();
    field(made, 'email').focus();
    await logIn(made);
    await made.answer(REJECTED);
    expect(focused()).to.equal('password');
    await logIn(made);
    await made.answer(challenge());
    const { readOnly, value } = field(made, 'email');
    expect([readOnly, value]).to.deep.equal([true, 'tom@example.com']);
    field(made, 'code').focus();
    await type(made, 'code', '111111');
    await submit(made);
    made.element.querySelector('h2')?.focus();
    await made.answer({ status: 401, body: { error: 'invalid_code' } });
    expect(focused()).to.equal('code');
    const code = field(made, 'code');
    expect([code.value, code.getAttribute('aria-invalid')]).to.deep.equal(['', 'true']);
  });

  it('stays in its field during a request after the texts changed, and goes to the invalid field', async () => {
    const made = await stage();
    field(made, 'email').focus();
    made.element.messages = { logIn: 'Anmelden' };
    await made.element.updateComplete;
    expect(title(made)).to.equal('Anmelden');
    await logIn(made);
    expect(focused()).to.equal('email');
    await made.answer(REJECTED);
    expect(focused()).to.equal('password');
  });

  it('stays elsewhere on the page', async () => {
    const other = document.createElement('button');
    document.body.append(other);
    const made = await stage();
    await logIn(made);
    other.focus();
    await made.answer(REJECTED);
    expect(document.activeElement).to.equal(other);
    await logIn(made);
    await made.answer(challenge());
    expect(document.activeElement).to.equal(other);
    other.remove();
  });

  it('returns if a focused button was disabled for a while', async () => {
    const made = await stage();
    await type(made, 'email', 'tom@example.com');
    await type(made, 'password', 'wrong');
    made.element.querySelector<HTMLButtonElement>('[type=submit]')?.focus();
    await submit(made);
    (document.activeElement as HTMLElement | null)?.blur();
    await made.answer(REJECTED);
    expect(focused()).to.equal('password');
  });
});

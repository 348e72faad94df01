// How long a passkey is asked for. An authenticator that nobody touches stands in for the browser's own.
import { expect } from '@open-wc/testing';
import { closeAll, failuresOf } from './open-session.ts';
import { challenged, openForm, until } from './scripted.ts';

const asked: AbortSignal[] = [];
let onAsked = (): void => undefined;
const get = ({ signal }: { signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    asked.push(signal);
    onAsked();
  });

const own = Object.getOwnPropertyDescriptor(globalThis, 'PublicKeyCredential');
before(() => {
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { get } });
  if (!own) Object.assign(globalThis, { PublicKeyCredential: class {} });
});
after(() => {
  Reflect.deleteProperty(navigator, 'credentials');
  if (!own) Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
});
afterEach(closeAll);

it('a passkey is asked for until the person does something else, and then not any more', async () => {
  const challenge = { public_key: { challenge: 'AAAA' } };
  const opened = openForm([challenged('t', { available_methods: ['passkey'], challenge })]);
  const { session, form } = opened;
  session.signIn();
  form.logIn({ email: 'petra@example.com', password: 'p' });
  await until(opened, 'answer');
  const isAsked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const over = form.usePasskey();
  await isAsked;
  expect(asked.map(({ aborted }) => aborted)).to.deep.equal([false]);
  session.cancel();
  await over;
  expect(asked.map(({ aborted }) => aborted)).to.deep.equal([true]);
  expect(failuresOf(opened.changes)).to.deep.equal(['canceled']);
});

// When a passkey is requested from the browser. A fake `navigator.credentials.get` stays pending until an abort.
import { expect } from '@open-wc/testing';
import { closeAll, failuresOf } from './open-session.ts';
import { challenged, openForm, signInReaches } from './scripted.ts';

const asked: AbortSignal[] = [];
const requests: CredentialRequestOptions[] = [];
let onAsked = (): void => undefined;
const get = (request: CredentialRequestOptions & { signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => {
    const { signal } = request;
    requests.push(request);
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

/** Signs in at `baseUrl` with a passkey challenge for `rpId`. Resolves with the requested `rpId`s, or with an error code. */
async function rpIdAskedFor(baseUrl: string, rpId: string | undefined): Promise<unknown> {
  const challenge = { public_key: { challenge: 'AAAA', ...(rpId !== undefined && { rpId }) } };
  const script = [challenged('t', { available_methods: ['passkey'], challenge })];
  const opened = openForm([...script, ...script], { baseUrl, clientId: crypto.randomUUID() });
  opened.session.signIn();
  opened.form.logIn({ email: 'petra@example.com', password: 'p' });
  await signInReaches(opened, 'answer');
  const count = asked.length;
  const isAsked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  await Promise.race([isAsked, opened.form.usePasskey()]);
  const code = failuresOf(opened.changes).at(-1);
  opened.session.cancel();
  return code ?? requests.slice(count).map(({ publicKey }) => publicKey?.rpId);
}

describe('a passkey of', () => {
  it('the service is requested for its host', async () => {
    expect(await rpIdAskedFor('https://files.example.com', undefined)).to.deep.equal(['files.example.com']);
    expect(await rpIdAskedFor('https://files.example.com', 'files.example.com')).to.deep.equal([
      'files.example.com',
    ]);
  });

  it('the page, of a domain that both share, or of any other domain, is never requested for a service elsewhere', async () => {
    for (const rpId of [
      location.hostname,
      'example.com',
      'les.example.com',
      'a.files.example.com',
      'other.example',
      '',
    ])
      expect(await rpIdAskedFor('https://files.example.com', rpId), rpId).to.equal('passkey-unavailable');
  });
});

it('a passkey is requested until the user chooses another action', async () => {
  const challenge = { public_key: { challenge: 'AAAA' } };
  const opened = openForm([challenged('t', { available_methods: ['passkey'], challenge })]);
  const { session, form } = opened;
  session.signIn();
  form.logIn({ email: 'petra@example.com', password: 'p' });
  await signInReaches(opened, 'answer');
  const isAsked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const over = form.usePasskey();
  await isAsked;
  expect(asked.at(-1)?.aborted).to.equal(false);
  session.cancel();
  await over;
  expect(asked.at(-1)?.aborted).to.equal(true);
  expect(failuresOf(opened.changes)).to.deep.equal(['canceled']);
});

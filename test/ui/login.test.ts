// The form of `auth="local"` within the element: there when it is needed, in the light DOM, gone when it is not.

import { expect, fixture, html } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import '../../src/define.ts';
import { lookAt, password } from '../auth/people.ts';
import { findReference } from '../service/reference.ts';
import { all, shown, textFile } from './support.ts';

async function createLocal(more: object = {}): Promise<SecureUploader> {
  const { baseUrl } = await findReference();
  const element = await fixture<SecureUploader>(html`<secure-uploader auth="local"></secure-uploader>`);
  Object.assign(element, { baseUrl, parentId: 'folder-a', silent: 'off', multiple: true, ...more });
  await element.updateComplete;
  return element;
}

const formOf = (element: SecureUploader) =>
  shown(() => element.querySelector<HTMLElement>(':scope > secure-uploader-login form'));

describe('the form within the element', () => {
  it('is there once a file needs it, as a child of the element, and nothing complains about it', async () => {
    const element = await createLocal();
    expect(element.querySelector('secure-uploader-login')).to.equal(null);
    await element.addFiles([textFile('a.txt')]);
    const form = await formOf(element);
    expect(form.closest('secure-uploader-login')?.slot).to.equal('login');
    expect(form.checkVisibility()).to.equal(true);
    expect(form.getRootNode()).to.equal(document);
    expect(all(element, '[data-action=sign-in]')).to.have.length(0);
    await expect(element).to.be.accessible();
  });

  it('offers the identity providers of the page, in its own words', async () => {
    const element = await createLocal({
      idps: [{ id: 'corp', label: 'Corp', kind: 'federated' }],
      messages: { logIn: 'Anmelden' },
    });
    await element.addFiles([textFile('b.txt')]);
    const form = await formOf(element);
    expect(form.textContent).to.contain('Anmelden');
    expect(form.parentElement?.textContent).to.contain('Sign in with Corp');
  });

  it('keeps what was typed when settings change that sign-in does not go by', async () => {
    const element = await createLocal();
    await element.addFiles([textFile('c.txt')]);
    const form = await formOf(element);
    const input = form.querySelector<HTMLInputElement>('[name=email]');
    if (input) input.value = 'alice@example.com';
    element.accept = '.txt';
    await element.updateComplete;
    expect(element.querySelector<HTMLInputElement>('[name=email]')?.value).to.equal('alice@example.com');
  });

  it('goes with the last file that needed it', async () => {
    const element = await createLocal();
    await element.addFiles([textFile('d.txt')]);
    await formOf(element);
    await element.cancel();
    await shown(() => !element.querySelector('secure-uploader-login'));
  });

  it('comes when the page asks for it, though no file waits', async () => {
    const element = await createLocal();
    await element.signIn();
    await formOf(element);
  });

  it('is there once for two uploaders that sign in in the same way, and moves on when the first one goes', async () => {
    const [one, two] = [await createLocal(), await createLocal()];
    await one.addFiles([textFile('e.txt')]);
    await formOf(one);
    await two.addFiles([textFile('f.txt')]);
    const second = await shown(() => two.querySelector<HTMLElement>(':scope > secure-uploader-login p'));
    expect(second.textContent).to.contain('already');
    expect(two.querySelector('form')).to.equal(null);
    const ids = [...document.querySelectorAll('secure-uploader-login [id]')].map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    one.remove();
    await formOf(two);
  });

  it('sends a code by itself once it is whole, if the page wants that', async () => {
    const element = await createLocal({ authOptions: { autoSubmitCode: true } });
    await element.addFiles([textFile('g.txt')]);
    const form = (await formOf(element)) as HTMLFormElement;
    const fill = (name: string, value: string): HTMLInputElement => {
      const input = element.querySelector<HTMLInputElement>(`[name=${name}]`);
      if (!input) throw new Error(`no ${name}`);
      input.value = value;
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      return input;
    };
    fill('email', 'mia@example.com');
    fill('password', await password());
    form.requestSubmit();
    const bySms = (): HTMLElement | null | undefined =>
      [...element.querySelectorAll('button')].find((button) => button.textContent?.includes('text message'));
    (await shown(bySms)).click();
    await shown(() => element.querySelector<HTMLElement>('[name=code]'));
    const code = (await lookAt('mia')).sms ?? '';
    fill('code', code.slice(0, -1));
    expect(element.snapshot.auth.state).to.equal('answer');
    fill('code', code);
    await shown(() => element.snapshot.auth.state !== 'answer');
  });

  it('is not needed for a window, whose panel counts down while the service asks for patience', async () => {
    const fixtures = new URL('../auth/fixtures/', import.meta.url).href;
    const adapter = { exchange: async () => ({ status: 429, body: {}, retryAfterMs: 40_000 }) };
    const element = await createLocal({
      auth: 'popup',
      silent: 'auto',
      authorizePath: `${fixtures}authorize.html`,
      redirectUri: `${fixtures}secure-uploader-callback.html`,
      authOptions: { adapter },
    });
    await element.addFiles([textFile('h.txt')]);
    const leftS = (): number =>
      Number(/in about (\d+) s/.exec(element.renderRoot.textContent ?? '')?.[1] ?? Number.NaN);
    const first = await shown(leftS);
    expect(first).to.be.at.most(40);
    await shown(() => leftS() < first);
    await element.cancel();
  });
});

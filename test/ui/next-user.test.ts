// What the element shows and keeps when the user has changed, also while its engine is not loaded.

import { expect } from '@open-wc/testing';
import { currentPeriod } from '../../src/core/user.ts';
import type { SecureUploader } from '../../src/define.ts';
import { code } from '../../src/ui/uploads-controller.ts';
import { freshFile } from '../support/bytes.ts';
import { quietFor, until } from '../support/collect.ts';
import {
  inCache,
  signOutAndClearElsewhere,
  signOutElsewhere,
  signOutUnnoticed,
} from '../support/other-page.ts';
import { fileReaches, replace, world } from '../support/world.ts';
import { all, button, one } from './support.ts';

const period = (): string | null => localStorage.getItem('secure-uploader:period');
const alertOf = (element: SecureUploader): string =>
  one(element, '[role=alert][aria-live]').textContent ?? '';

afterEach(() => localStorage.clear());

for (const [when, leave] of [
  ['signs out in another tab', async () => signOutElsewhere()],
  ['has signed out while the page was in the back/forward cache', async () => inCache(signOutUnnoticed)],
] as const)
  describe(`when the user ${when}, the element`, () => {
    it('announces nothing any more, also not what it has gathered', async () => {
      const { element } = await world({ element: true, accept: '.pdf' });
      await element.addFiles(freshFile(10, 'a.txt'));
      await until(() => alertOf(element) !== '');
      await element.addFiles(freshFile(10, 'salary.txt'));
      await leave();
      await until(() => element.snapshot.rejections.length === 0);
      await until(quietFor(400, () => alertOf(element).length));
      await element.updateComplete;
      expect(alertOf(element)).to.equal('');
    });

    it('has no command that can be undone', async () => {
      const stage = await world({ element: true, answers: ['open', 'presign', 'cancel'] });
      const { element } = stage;
      await element.addFiles(freshFile(900, 'a.txt'));
      await fileReaches(stage, 'a.txt', 'uploading');
      element.requestUpdate();
      await element.updateComplete;
      button(element, 'Cancel: a.txt').click();
      await until(() => all(element, '[part~=undo]').length === 1);
      await leave();
      await until(() => element.snapshot.files.length === 0);
      element.requestUpdate();
      await element.updateComplete;
      expect(all(element, '[part~=undo]')).to.have.length(0);
    });
  });

it('a sign-out ends the period at once, also if the code of the engine never comes', async () => {
  replace(code, 'load', () => new Promise(() => undefined));
  const { element } = await world({ element: true, baseUrl: '' });
  element.baseUrl = 'https://service.test';
  await element.updateComplete;
  // A test file before this one in the same page may have signed out.
  const signOutCount = Number.parseInt(period() ?? '', 10);
  void element.signOut();
  expect(period()).to.contain(`${signOutCount + 1}-`);
});

it('a page that finishes the deletion of an earlier sign-out does not end the period of its own user', async () => {
  localStorage.setItem('secure-uploader:period', '1-of-the-next-user');
  localStorage.setItem('secure-uploader:delete', '1');
  await world({ element: true });
  await until(() => localStorage.getItem('secure-uploader:delete') === null);
  expect(period()).to.equal('1-of-the-next-user');
});

it('files that are being read when another tab signs out are not added', async () => {
  const { element } = await world({ element: true });
  let load = (): void => undefined;
  const { load: real } = code;
  replace(code, 'load', async () => {
    await new Promise<void>((resolve) => {
      load = resolve;
    });
    return real();
  });
  const late = document.createElement('secure-uploader') as SecureUploader;
  Object.assign(late, { baseUrl: element.baseUrl, parentId: 'a', auth: 'none' });
  document.body.append(late);
  await late.updateComplete;
  const adding = late.addFiles(freshFile(10, 'salary.txt'));
  const noticed = new Promise((resolve) => addEventListener('storage', resolve, { once: true }));
  signOutElsewhere();
  await noticed;
  load();
  await adding;
  expect(late.snapshot.files).to.deep.equal([]);
  late.remove();
});

describe('the token and the files of the next user', () => {
  /** Returns an element with the token of Alice, and what it sends. */
  async function ofAlice(): Promise<{ late: SecureUploader; sent: string[] }> {
    const { element } = await world({ element: true });
    const sent: string[] = [];
    const late = document.createElement('secure-uploader') as SecureUploader;
    replace(globalThis, 'fetch', (input: Request | string, init?: RequestInit) => {
      const { headers, signal } = init ?? (input as Request);
      sent.push(`${new Headers(headers).get('authorization')}`);
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    });
    Object.assign(late, { baseUrl: element.baseUrl, parentId: 'a', multiple: true, token: 'alice' });
    return { late, sent };
  }

  /** Shows an element with a file of Alice, and removes it from the page. */
  async function show(late: SecureUploader): Promise<void> {
    document.body.append(late);
    await late.addFiles(freshFile(10, 'of-alice.txt'));
    await until(() => late.snapshot.files.length === 1);
    late.remove();
    // The engine is suspended in the next task.
    await until(quietFor(50, () => 0));
  }

  async function expectOfBob({ late, sent }: { late: SecureUploader; sent: string[] }): Promise<void> {
    await until(() => sent.includes('Bearer bob'));
    expect(late.snapshot.files.map(({ name }) => name)).to.deep.equal(['of-bob.txt']);
    expect(sent.slice(sent.indexOf('Bearer bob'))).not.to.include('Bearer alice');
    late.remove();
  }

  const away = [
    ['the element itself, which is not in the page', (late: SecureUploader) => late.signOut()],
    [
      'another element of the page',
      async () => {
        const { element } = await world({ element: true });
        void element.signOut();
      },
    ],
    ['another tab, unnoticed', async () => signOutUnnoticed()],
    [
      'another tab, which clears the storage',
      async () => {
        const told = new Promise((resolve) => addEventListener('storage', resolve, { once: true }));
        signOutAndClearElsewhere();
        await told;
      },
    ],
  ] as const;
  for (const [where, leave] of away)
    for (const when of ['before', 'after'] as const)
      it(`stay if they come ${when} the element is back, after a sign-out in ${where}`, async () => {
        const stage = await ofAlice();
        const { late } = stage;
        await show(late);
        stage.sent.length = 0;
        await leave(late);
        if (when === 'after') document.body.append(late);
        late.token = 'bob';
        await late.addFiles(freshFile(10, 'of-bob.txt'));
        if (when === 'before') document.body.append(late);
        await expectOfBob(stage);
      });

  it('replace those of an element that was never in the page before the sign-out', async () => {
    const stage = await ofAlice();
    const { element } = await world({ element: true });
    await element.signOut();
    document.body.append(stage.late);
    await stage.late.addFiles(freshFile(10, 'of-bob.txt'));
    await until(() => stage.late.snapshot.files.length === 1);
    await until(quietFor(100, () => stage.sent.length));
    expect(stage.sent).not.to.include('Bearer alice');
    stage.late.token = 'bob';
    await expectOfBob(stage);
  });

  it('stay if they come while the code for a sign-out is being loaded, which ends one period', async () => {
    const stage = await ofAlice();
    const { late } = stage;
    let load = (): void => undefined;
    const { load: real } = code;
    replace(code, 'load', async () => {
      await new Promise<void>((resolve) => {
        load = resolve;
      });
      return real();
    });
    document.body.append(late);
    await late.updateComplete;
    const leaving = late.signOut();
    const next = currentPeriod();
    late.token = 'bob';
    const adding = late.addFiles(freshFile(10, 'of-bob.txt'));
    await late.updateComplete;
    load();
    await Promise.all([leaving, adding]);
    expect(currentPeriod()).to.equal(next);
    await expectOfBob(stage);
  });
});

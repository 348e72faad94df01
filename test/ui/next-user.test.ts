// What the element shows and keeps when the user has changed, also while its engine is not loaded.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { code } from '../../src/ui/uploads-controller.ts';
import { freshFile } from '../support/bytes.ts';
import { quietFor, until } from '../support/collect.ts';
import { inCache, signOutElsewhere, signOutUnnoticed } from '../support/other-page.ts';
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
  const before = period();
  expect(before).to.contain('0-');
  void element.signOut();
  expect(period()).to.contain('1-');
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

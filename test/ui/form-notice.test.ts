// A form that has waited for uploads, and is not sent, says so.

import { expect, fixture, html } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { code } from '../../src/ui/uploads-controller.ts';
import { deferred, quietFor, until } from '../support/collect.ts';
import { signOutElsewhere } from '../support/other-page.ts';
import { replace } from '../support/world.ts';
import { finish, type Stage, waiting } from './pressed-form.ts';
import { button, shown, textFile } from './support.ts';

const UNFINISHED = "Some files aren't uploaded yet. Finish uploading them, or remove them from the list.";
const NOT_SENT = "The form wasn't sent.";

/** The text of the notice, and whether it is visible and announced. */
function notice(): string[] {
  const found = [...document.querySelectorAll('div')].flatMap(({ shadowRoot }) => {
    const region = shadowRoot?.querySelector('[role=alert]');
    const text = shadowRoot?.querySelector('[popover]');
    if (!region || !text) return [];
    return [`${text.checkVisibility() ? 'seen' : 'unseen'}: ${region.textContent}`];
  });
  return found;
}

const fail = ({ service }: Stage): void =>
  service.waiting('commit')[0]?.refuse(new UploaderError('forbidden', ''));
const hide = ({ element }: Stage): void => {
  (element.parentElement as HTMLElement).hidden = true;
};

describe('a form that is not sent after it has waited', () => {
  afterEach(() => document.body.dispatchEvent(new Event('pointerdown', { bubbles: true })));

  it('says so in a live region; the browser shows it at the element', async () => {
    const stage = await waiting();
    fail(stage);
    await until(() => notice()[0]?.endsWith(UNFINISHED) === true);
    expect(notice()).to.deep.equal([`unseen: ${NOT_SENT} ${UNFINISHED}`]);
  });

  for (const [where, prepare] of [
    ['a hidden step', hide],
    [
      'a closed <details>',
      ({ fieldset, element }: Stage) => {
        const details = document.createElement('details');
        fieldset.append(details);
        details.append(element);
      },
    ],
  ] as const)
    it(`says so on the page if the element is in ${where}, until the user presses somewhere`, async () => {
      const stage = await waiting();
      prepare(stage);
      fail(stage);
      await until(() => notice()[0]?.endsWith(UNFINISHED) === true);
      expect(notice()).to.deep.equal([`seen: ${NOT_SENT} ${UNFINISHED}`]);
      document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
      expect(notice()).to.deep.equal([]);
    });

  it('says so in the dialog that the form is in', async () => {
    const dialog = document.createElement('dialog');
    document.body.append(dialog);
    const stage = await waiting((form) => dialog.append(form));
    hide(stage);
    dialog.showModal();
    fail(stage);
    await until(() => notice().length > 0);
    expect(dialog.querySelector(':scope > div')?.shadowRoot?.querySelector('[role=alert]')).not.to.equal(
      null,
    );
    dialog.remove();
  });

  it('says so if the user cancels the last upload', async () => {
    const stage = await waiting();
    button(stage.element, 'Cancel: a.txt').click();
    await until(() => notice()[0]?.endsWith(NOT_SENT) === true);
    expect(notice()).to.deep.equal([`seen: ${NOT_SENT}`]);
  });

  it('says so if another field has become invalid', async () => {
    const stage = await waiting();
    (stage.form.elements.namedItem('title') as HTMLInputElement).value = '';
    finish(stage);
    await until(() => notice()[0]?.endsWith(NOT_SENT) === true);
    expect([stage.sent, notice()]).to.deep.equal([[], [`seen: ${NOT_SENT}`]]);
  });

  it('says nothing if it is sent', async () => {
    const stage = await waiting();
    hide(stage);
    finish(stage);
    await until(() => stage.sent.length > 0);
    await shown(() => stage.element.validationMessage === '');
    expect(notice()).to.deep.equal([]);
  });
});

it('a form with an uploader in a hidden step says that it waits, and no longer when it is sent', async () => {
  const stage = await waiting((form) => {
    (form.querySelector('secure-uploader') as HTMLElement).style.display = 'none';
  });
  await until(() => notice()[0]?.endsWith('when all files are uploaded.') === true);
  expect(notice()).to.deep.equal(['seen: The form will be sent when all files are uploaded.']);
  finish(stage);
  await until(() => stage.sent.length > 0);
  expect(notice()).to.deep.equal([]);
});

describe('when the user changes, a form that waits', () => {
  afterEach(() => document.body.dispatchEvent(new Event('pointerdown', { bubbles: true })));

  for (const [what, leave] of [
    ['the user signs out in another tab', () => signOutElsewhere()],
    ['the page names another owner', (element: SecureUploader) => Object.assign(element, { owner: 'bob' })],
  ] as const)
    it(`says so if ${what} while files are being read, and does not send it without them`, async () => {
      const { load } = code;
      const released = deferred();
      replace(code, 'load', () => released.promise.then(load));
      const form = await fixture<HTMLFormElement>(html`<form><button>Send</button></form>`);
      const submissions: Event[] = [];
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        submissions.push(event);
      });
      const element = document.createElement('secure-uploader') as SecureUploader;
      const connection = {
        baseUrl: 'https://service.test',
        parentId: 'folder-a',
        auth: 'none',
        owner: 'ann',
      };
      Object.assign(element, { ...connection, name: 'documents', submitWhenDone: true });
      form.prepend(element);
      await element.updateComplete;
      void element.addFiles(textFile('a.txt')).catch(() => undefined);
      form.querySelector('button')?.click();
      await element.updateComplete;
      expect(element.validationMessage).to.equal('The form will be sent when all files are uploaded.');
      leave(element);
      await until(() => notice()[0]?.endsWith(NOT_SENT) === true);
      released.resolve();
      await until(quietFor(50, () => submissions.length));
      expect(submissions).to.deep.equal([]);
    });

  it('leaves no name of a file of the user before on the page', async () => {
    const stage = await waiting();
    hide(stage);
    stage.element.formValue = () => undefined as never;
    replace(globalThis, 'reportError', () => undefined);
    finish(stage);
    await until(() => notice()[0]?.includes('a.txt') === true);
    signOutElsewhere();
    await until(() => !notice().some((text) => text.includes('a.txt')));
  });
});

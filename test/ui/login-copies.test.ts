// Pages restore copies of their nodes, for example for "Back" (htmx, Turbo). A copy of the sign-in form has no listeners, and must
// not send what is entered as a form of the page.

import { expect, fixture, html } from '@open-wc/testing';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import '../../src/define.ts';
import { findReference } from '../service/reference.ts';
import { challenge, field, logIn, removeStages, stage, title } from './login-stage.ts';
import { shown, textFile } from './support.ts';

afterEach(removeStages);

const formsIn = (root: ParentNode): HTMLFormElement[] =>
  [...root.querySelectorAll('form')].filter((form) => form.checkVisibility());

/** Fills in a form and submits it. Returns true if the browser would leave the page for it. */
function leavesPage(form: HTMLFormElement): boolean {
  for (const input of form.querySelectorAll('input')) input.value = 'a@b.example';
  let isSent = false;
  const onSubmit = (event: SubmitEvent): void => {
    isSent = !event.defaultPrevented && form.method !== 'dialog';
    if (isSent) event.preventDefault();
  };
  document.addEventListener('submit', onSubmit, { once: true });
  form.requestSubmit();
  document.removeEventListener('submit', onSubmit);
  return isSent;
}

const WAYS: readonly (readonly [string, <T extends Element>(element: T) => T])[] = [
  [
    'as text',
    (element) => {
      const box = document.createElement('div');
      box.innerHTML = element.outerHTML;
      return box.firstElementChild as typeof element;
    },
  ],
  ['as nodes', (element) => element.cloneNode(true) as typeof element],
];

for (const [how, copyOf] of WAYS)
  describe(`a copy of the sign-in form that was made ${how}`, () => {
    for (const step of ['Sign in', 'code'] as const)
      it(`does not leave the page before the element works, in the step "${step}"`, async () => {
        const made = await stage();
        if (step === 'code') {
          await logIn(made);
          await made.answer(challenge());
          expect(field(made, 'code').value).to.equal('');
        }
        const box = document.createElement('div');
        // Outside of the element, because its code has not been loaded in the page of a copy.
        box.append(...copyOf(made.element).childNodes);
        document.body.append(box);
        expect(formsIn(box).map(leavesPage)).to.deep.equal([false]);
        box.remove();
      });

    it('is replaced by the form of its element', async () => {
      const made = await stage();
      made.element.setAttribute('base-url', 'https://service.test');
      await made.element.updateComplete;
      const copy = copyOf(made.element);
      made.element.replaceWith(copy);
      await copy.updateComplete;
      expect(formsIn(copy)).to.have.length(1);
      expect(title({ ...made, element: copy })).to.equal('Sign in');
      expect(leavesPage(formsIn(copy)[0] as HTMLFormElement)).to.equal(false);
      copy.remove();
    });

    it('is replaced by the form of its uploader', async () => {
      const { baseUrl } = await findReference();
      const element = await fixture<SecureUploader>(
        html`<secure-uploader auth="local" silent="off" parent-id="folder-a" multiple></secure-uploader>`,
      );
      element.baseUrl = baseUrl;
      await element.addFiles([textFile('a.txt')]);
      await shown(() => element.querySelector<HTMLFormElement>('form'));
      const copy = copyOf(element);
      element.replaceWith(copy);
      copy.baseUrl = baseUrl;
      await copy.addFiles([textFile('b.txt')]);
      await shown(() => copy.querySelector<HTMLFormElement>('form'));
      expect(formsIn(copy)).to.have.length(1);
      expect(leavesPage(formsIn(copy)[0] as HTMLFormElement)).to.equal(false);
      copy.remove();
    });
  });

// A form that has waited for uploads sends what the user pressed.

import { expect } from '@open-wc/testing';
import { until } from '../support/collect.ts';
import { fileReaches } from '../support/world.ts';
import { finish, type Stage, waiting } from './pressed-form.ts';

/** What pages do when a button is pressed. */
const GUARDS: Readonly<Record<string, (stage: Stage) => void>> = {
  'does nothing': () => undefined,
  'disables the button': ({ publish }) => {
    publish.disabled = true;
  },
  'disables all buttons': ({ form }) => {
    for (const each of form.querySelectorAll('button')) each.disabled = true;
  },
  'disables the fieldset of everything': ({ fieldset }) => {
    fieldset.disabled = true;
  },
  'disables a fieldset around the form and the button': ({ fieldset, publish }) => {
    fieldset.disabled = true;
    publish.disabled = true;
  },
  'renders the button again': ({ publish }) => publish.replaceWith(publish.cloneNode(true)),
  'renders another button without a name': ({ publish }) => {
    publish.outerHTML = '<button disabled>Sending…</button>';
  },
  'removes the button': ({ publish }) => publish.remove(),
  'renames the button': ({ publish }) => {
    publish.value = 'sending';
    publish.name = 'state';
  },
  'takes the address of the button': ({ publish }) => publish.removeAttribute('formaction'),
  'moves the button to another form': ({ publish }) => {
    const other = document.createElement('form');
    publish.closest('form')?.after(other);
    other.append(publish);
  },
  'hides the button': ({ publish }) => {
    publish.hidden = true;
  },
};

describe('a form that has waited sends what the user pressed', () => {
  for (const [what, guard] of Object.entries(GUARDS))
    it(`if the page ${what}`, async () => {
      const stage = await waiting();
      guard(stage);
      const before = stage.form.outerHTML;
      finish(stage);
      await until(() => stage.sent.length > 0);
      expect(stage.sent[0]).to.match(/^Claim publish 1 \/published/);
      await stage.element.updateComplete;
      // What the page has made of its form stays.
      expect(stage.form.outerHTML).to.equal(before);
      expect([stage.sent.length, stage.clicks]).to.deep.equal([1, ['publish']]);
    });

  it('with the same button, if that can still be used', async () => {
    const stage = await waiting();
    stage.publish.disabled = true;
    finish(stage);
    await until(() => stage.sent.length > 0);
    expect(stage.sent).to.deep.equal(['Claim publish 1 /published publish']);
  });

  it('and what the user has typed since', async () => {
    const stage = await waiting();
    stage.fieldset.disabled = true;
    (stage.form.elements.namedItem('title') as HTMLInputElement).value = 'Other';
    finish(stage);
    await until(() => stage.sent.length > 0);
    expect(stage.sent).to.deep.equal(['Other publish 1 /published publish']);
  });

  it('but nothing of a fieldset that the page disables because of a later input', async () => {
    const stage = await waiting();
    stage.form.dispatchEvent(new Event('input', { bubbles: true }));
    stage.fieldset.disabled = true;
    finish(stage);
    await fileReaches(stage, 'a.txt', 'done');
    await stage.element.updateComplete;
    expect(stage.sent).to.deep.equal([]);
  });

  it('but nothing of an element that the page disables', async () => {
    const stage = await waiting();
    stage.element.disabled = true;
    finish(stage);
    await fileReaches(stage, 'a.txt', 'done');
    await stage.element.updateComplete;
    expect(stage.sent).to.deep.equal([]);
  });
});

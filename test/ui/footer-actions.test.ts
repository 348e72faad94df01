// The actions of the footer: which there are, how a narrow footer shows them, and what happens to the focus.

import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import { show } from './show.ts';
import { all, button } from './support.ts';

const failed = file('failed.txt', 'failed', 10, 0, { error: { code: 'network', retryable: true } });
const sent = file('sent.txt', 'uploading', 10, 0.5);
const paused = file('paused.txt', 'paused', 10, 0.5, { pauseReason: 'user' });
const offline = file('offline.txt', 'paused', 10, 0.5, { pauseReason: 'offline' });
const MIXED = snapshot([failed, sent, paused]);

/** The names of the visible buttons. */
const labels = (element: WidgetFixture): string[] =>
  all(element, '.bulk button')
    .filter((each) => each.checkVisibility())
    .map((each) => each.title || (each.textContent ?? '').trim());
const inMenu = (element: WidgetFixture): string[] =>
  all(element, '.bulk .menu button').map((each) => (each.textContent ?? '').trim());
const focused = ({ shadowRoot }: WidgetFixture): string | undefined =>
  (shadowRoot?.activeElement as HTMLElement | null | undefined)?.dataset.action;

describe('the actions of the footer', () => {
  it('are those that are possible', async () => {
    const element = await show([sent, sent]);
    expect(labels(element)).to.deep.equal(['Pause all', 'Cancel all']);
    await element.show(MIXED);
    expect(labels(element)).to.deep.equal(['Resume all', 'Retry failed files', 'More actions']);
    expect(inMenu(element)).to.deep.equal(['Pause all', 'Cancel all']);
    expect(all(element, '.bulk .primary')).to.have.length(0);
  });

  it('run once', async () => {
    const element = await show(MIXED);
    for (const [label, call] of [
      ['Resume all', ['resume']],
      ['Retry failed files', ['retry']],
      ['Cancel all', ['cancel']],
    ] as const) {
      button(element, label).click();
      expect(element.calls.splice(0)).to.deep.equal([call]);
    }
  });

  it('have one main button, which is highlighted if nothing runs', async () => {
    const element = await show([failed, paused, paused]);
    expect(labels(element)).to.deep.equal(['Resume all', 'Retry failed files', 'More actions']);
    expect(all(element, '.bulk .primary').map((each) => each.textContent)).to.deep.equal(['Resume all']);
  });

  for (const [title, before, label, after] of [
    ['of two', snapshot([sent, sent]), 'Pause all', snapshot([offline, offline])],
    ['of four', MIXED, 'Resume all', snapshot([offline, offline])],
  ] as const)
    it(`never give the focus of another button to the one that cancels: ${title}`, async () => {
      const element = await show(before);
      button(element, label).focus();
      await element.show(after);
      expect(labels(element)).to.deep.equal(['Cancel all']);
      expect(element.shadowRoot?.activeElement?.classList.contains('row')).to.equal(true);
    });

  it('never hide "Retry" in the menu', async () => {
    const element = await show(MIXED);
    for (const files of [[failed, sent, sent], [failed, paused], MIXED.files]) {
      await element.show(snapshot(files));
      expect(labels(element)).to.include('Retry failed files');
    }
    element.more = { undo: { ids: new Set(['id-sent.txt']), text: 'Canceled' } };
    await element.show(MIXED);
    expect(labels(element)).to.deep.equal(['Undo', 'Retry failed files', 'More actions']);
    expect(inMenu(element)).to.deep.equal(['Pause all', 'Resume all', 'Cancel all']);
  });

  it('are in the menu also if there is only one, so that it does not take the place of the menu', async () => {
    const element = await show([sent, paused]);
    expect(labels(element)).to.deep.equal(['Resume all', 'More actions']);
    expect(inMenu(element)).to.deep.equal(['Pause all', 'Cancel all']);
    await element.show(snapshot([paused, paused]));
    expect(labels(element)).to.deep.equal(['Resume all', 'More actions']);
    expect(inMenu(element)).to.deep.equal(['Cancel all']);
  });

  it('keep the focus when other actions go', async () => {
    const element = await show(MIXED);
    button(element, 'Retry failed files').focus();
    await element.show(snapshot([failed, sent, sent]));
    expect(focused(element)).to.equal('retry-failed');
    expect(labels(element)).to.deep.equal(['Retry failed files', 'More actions']);
  });

  it('hand the focus to the first one when theirs goes', async () => {
    for (const label of ['Resume all', 'Retry failed files']) {
      const element = await show(MIXED);
      button(element, label).focus();
      await element.show(snapshot([sent, sent]));
      expect(focused(element)).to.equal('pause-all');
      element.remove();
    }
  });

  it('choose all lost files again only if the picker can find them', async () => {
    const lost = (name: string, relativePath = name) =>
      file(name, 'paused', 10, 0.5, { pauseReason: 'needs-file', relativePath });
    const list = snapshot([lost('a.txt'), lost('b.txt')]);
    const element = await show(list);
    expect(labels(element)).to.deep.equal(['Choose files', 'More actions']);
    element.rules = { ...element.rules, multiple: false };
    await element.show(list);
    expect(labels(element)).to.deep.equal(['Cancel all']);
    element.rules = { ...element.rules, multiple: true, disabled: true };
    await element.show(list);
    expect(labels(element)).to.deep.equal(['Cancel all']);
    element.rules = { ...element.rules, disabled: false, capture: 'user' };
    await element.show(list);
    expect(labels(element)).to.deep.equal(['Cancel all']);
    element.rules = { ...element.rules, capture: undefined };
    await element.show(snapshot([lost('a.txt'), lost('b.txt', 'folder/b.txt')]));
    expect(labels(element)).to.deep.equal(['Cancel all']);
  });

  it('retry all failed files, if at least one can be retried with the same name', async () => {
    const withCode = (code: 'forbidden' | 'name-taken') =>
      file(`${code}.txt`, 'failed', 10, 0, { error: { code, retryable: true } });
    const element = await show([withCode('name-taken'), withCode('name-taken')]);
    expect(labels(element)).to.deep.equal([]);
    for (const [files, isMain] of [
      [[withCode('forbidden'), withCode('name-taken')], false],
      [[withCode('forbidden'), failed], true],
    ] as const) {
      await element.show(snapshot(files));
      const retry = button(element, 'Retry failed files');
      expect(retry.classList.contains('primary')).to.equal(isMain);
    }
  });

  it('are all reached with Tab', async () => {
    const element = await show(MIXED);
    button(element, 'Resume all').focus();
    for (const action of ['retry-failed', 'more']) {
      await sendKeys({ press: 'Tab' });
      expect(focused(element)).to.equal(action);
    }
  });
});

describe('a narrow footer', () => {
  it('has a menu in place of two actions that need no user, and keeps its height', async () => {
    const element = await show([sent, sent], { width: 320 });
    expect(labels(element)).to.deep.equal(['More actions']);
    expect(all(element, '.totals')[0]?.offsetHeight).to.be.within(60, 80);
    button(element, 'More actions').click();
    expect(labels(element)).to.deep.equal(['More actions', 'Pause all', 'Cancel all']);
  });

  it('has words for what the user has to do, in full and in one line', async () => {
    const element = await show([failed, paused, paused], { width: 320 });
    expect(labels(element)).to.deep.equal(['Resume all', 'Retry failed files', 'More actions']);
    for (const each of all(element, '.bulk > button')) {
      expect(each.scrollWidth).to.be.at.most(each.clientWidth);
      expect(each.offsetHeight).to.equal(44);
    }
    expect(all(element, '.bulk .primary').map((each) => each.textContent)).to.deep.equal(['Resume all']);
  });
});

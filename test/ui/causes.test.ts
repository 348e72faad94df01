// What several files failed for, or are warned of: said once above the list, with one action for all of them.

import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import { isRetryable } from '../../src/core/error-codes.ts';
import type { ErrorCode, FileSnapshot } from '../../src/index.ts';
import { ENGLISH } from '../../src/locales/en.ts';
import { show } from './show.ts';
import { all, button, one, shown, textOf } from './support.ts';

const failed = (name: string, code: ErrorCode): FileSnapshot =>
  file(name, 'failed', 10, 0, { error: { code, retryable: isRetryable({ code }) } });
const warned = (name: string, warning: ErrorCode): FileSnapshot =>
  file(name, 'uploading', 10, 0.5, { warning });

/** The panels, each with its text in one line. */
const panels = (element: WidgetFixture): string[] =>
  all(element, '.cause').map((each) => (each.textContent ?? '').replace(/\s+/g, ' ').trim());
/** How often the interface says the sentence of `code`. */
const countOf = (element: WidgetFixture, code: ErrorCode): number =>
  textOf(element).split(ENGLISH[code]).length - 1;

describe('a cause', () => {
  it('of several files is said once, with their names, and not in their rows', async () => {
    const element = await show([failed('a.txt', 'network'), failed('b.txt', 'network')]);
    expect(panels(element)).to.deep.equal([`${ENGLISH.network} a.txt, b.txt Retry`]);
    expect(countOf(element, 'network')).to.equal(1);
    expect(all(element, '.row .problem')).to.have.length(0);
    expect(all(element, '.row [data-action=go]')).to.have.length(0);
    expect(one(element, '.row').textContent).to.include('Upload failed');
    expect(one(element, '.cause').getAttribute('aria-label')).to.equal(ENGLISH.network);
  });

  it('of one file stays in its row, with its button', async () => {
    const element = await show([failed('a.txt', 'network'), failed('b.txt', 'file-changed')]);
    expect(panels(element)).to.deep.equal([]);
    expect(all(element, '.row .problem').map((each) => each.textContent)).to.deep.equal([
      ENGLISH.network,
      ENGLISH['file-changed'],
    ]);
    expect(all(element, '.row [data-action=go]')).to.have.length(2);
  });

  it('is retried for its files only', async () => {
    const element = await show([
      failed('a.txt', 'network'),
      failed('b.txt', 'timeout'),
      failed('c.txt', 'network'),
      failed('d.txt', 'timeout'),
    ]);
    button(element, `Retry: ${ENGLISH.timeout}`).click();
    expect(element.calls).to.deep.equal([['retryFiles', ['id-b.txt', 'id-d.txt']]]);
  });

  it('that a retry does not help has no button', async () => {
    const element = await show([failed('a.txt', 'wrong-file'), failed('b.txt', 'wrong-file')]);
    expect(panels(element)).to.deep.equal([`${ENGLISH['wrong-file']} a.txt, b.txt`]);
    expect(all(element, '.cause button, .bulk button')).to.have.length(0);
  });

  it('that a retry may help later has a quiet one', async () => {
    const element = await show([failed('a.txt', 'forbidden'), failed('b.txt', 'forbidden')]);
    const retry = button(element, `Try again: ${ENGLISH.forbidden}`);
    expect(retry.classList.contains('primary')).to.equal(false);
    expect(all(element, '.row .body > button')).to.have.length(0);
  });

  it('that needs a name for each file stays in the rows', async () => {
    const element = await show([failed('a.txt', 'name-taken'), failed('b.txt', 'name-taken')]);
    expect(panels(element)).to.deep.equal([]);
    expect(all(element, '[data-action=rename]')).to.have.length(2);
  });

  it('may be a warning, which is not mixed with errors of the same code', async () => {
    const element = await show([
      warned('a.txt', 'file-unreadable'),
      failed('b.txt', 'file-unreadable'),
      warned('c.txt', 'file-unreadable'),
    ]);
    expect(panels(element)).to.deep.equal([`${ENGLISH['file-unreadable']} a.txt, c.txt`]);
    expect(one(element, '.cause').part.contains('warning')).to.equal(true);
    expect(all(element, '.row .problem.error')).to.have.length(1);
    expect(all(element, '.row .problem.warning')).to.have.length(0);
  });

  it('shows three names, and the others unfolded', async () => {
    const element = await show('abcde'.split('').map((name) => failed(name, 'network')));
    expect(all(element, '.cause .refusals > .refused').map((each) => each.textContent)).to.deep.equal([
      'a',
      'b',
      'c',
    ]);
    expect(one(element, '.cause summary').textContent).to.equal('and 2 more');
  });

  it('takes the place of the button in the footer, which retries what has no cause in common', async () => {
    const same = [failed('a.txt', 'network'), failed('b.txt', 'network')];
    const element = await show(same);
    const count = (): number => all(element, '[data-action=retry-failed]').length;
    expect(count()).to.equal(0);
    for (const [others, expected] of [
      [[failed('c.txt', 'timeout'), failed('d.txt', 'timeout')], 0],
      [[failed('c.txt', 'file-changed')], 1],
      // It can't be retried at all.
      [[failed('c.txt', 'wrong-file')], 0],
    ] as const) {
      await element.show(snapshot([...same, ...others]));
      expect(count()).to.equal(expected);
    }
  });

  it('keeps its button and its unfolded names when another one comes or goes', async () => {
    const network = 'abcde'.split('').map((name) => failed(name, 'network'));
    const timeout = 'vwxyz'.split('').map((name) => failed(name, 'timeout'));
    const element = await show([...timeout, ...network]);
    const retry = button(element, `Retry: ${ENGLISH.timeout}`);
    const panel = retry.closest('.cause') as HTMLElement;
    (panel.querySelector('details') as HTMLDetailsElement).open = true;
    await element.show(
      snapshot([
        ...timeout,
        ...network.map((each) => ({ ...each, error: undefined, phase: 'done' as const })),
      ] as FileSnapshot[]),
    );
    expect(button(element, `Retry: ${ENGLISH.timeout}`)).to.equal(retry);
    expect(panel.querySelector('details')?.open).to.equal(true);
    expect(all(element, '.cause')).to.have.length(1);
  });

  it('neither comes nor goes while the rows keep their places', async () => {
    const names = ['a', 'b', 'c'];
    const element = await show(names.map((name) => failed(name, 'file-changed')));
    expect(panels(element)).to.have.length(1);
    one(element, '.row').focus();
    await sendKeys({ press: 'ArrowDown' });
    // A new cause stays in the rows, and one that only a single file still has is shown until the list is left.
    await element.show(
      snapshot([failed('a', 'file-changed'), failed('b', 'network'), failed('c', 'network')]),
    );
    expect(all(element, '.cause').map((each) => each.getAttribute('aria-label'))).to.deep.equal([
      ENGLISH['file-changed'],
    ]);
    expect(all(element, '.row .problem')).to.have.length(2);
    (element.renderRoot as ShadowRoot).querySelector<HTMLElement>(':focus')?.blur();
    await shown(() => panels(element).join().startsWith(ENGLISH.network));
    expect(panels(element)).to.have.length(1);
  });

  it('hands the focus to a row when its files are retried, never to "Cancel all"', async () => {
    const element = await show([failed('a.txt', 'network'), failed('b.txt', 'network')]);
    button(element, `Retry: ${ENGLISH.network}`).focus();
    await element.show(snapshot([file('a.txt', 'uploading', 10), file('b.txt', 'queued', 10)]));
    expect(element.shadowRoot?.activeElement?.matches('.row')).to.equal(true);
  });

  it('of ten files leaves their rows in their places', async () => {
    const names = 'abcdefghij'.split('');
    const element = await show(names.map((name) => file(name, 'uploading', 10, 0.5)));
    await element.show(
      snapshot(names.map((name) => ('df'.includes(name) ? failed(name, 'network') : file(name, 'done', 10)))),
    );
    expect(all(element, '.row').map(({ dataset }) => dataset.id)).to.deep.equal(
      names.map((name) => `id-${name}`),
    );
  });
});

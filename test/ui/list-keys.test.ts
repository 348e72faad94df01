// The keyboard in the list: one tab stop, arrow keys, Home, End, Delete and Escape.

import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import { freshFile } from '../support/bytes.ts';
import { fileReaches, type Stage, stateOf, world } from '../support/world.ts';
import { show } from './show.ts';
import { all, one, shown } from './support.ts';

const LIST = snapshot([
  file('a', 'uploading', 10, 0.5),
  file('b', 'done', 10),
  file('c', 'failed', 10, 0, { error: { code: 'name-taken', retryable: true } }),
  file('d', 'uploading', 10, 0.5),
]);

/** Returns the file of the focused row, and the action of the focused button in it. */
function focused(
  { shadowRoot }: Element,
  nameOf = (id: string): string | undefined => id.replace('id-', ''),
): string {
  const active = shadowRoot?.activeElement as HTMLElement | null | undefined;
  const row = active?.closest<HTMLElement>('.row');
  return [row ? nameOf(row.dataset.id ?? '') : active?.part.value, active?.dataset.action]
    .filter(Boolean)
    .join(' ');
}

/** Presses keys one after the other. Resolves with the focus after each key. */
async function press(element: WidgetFixture, ...keys: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const key of keys) {
    await sendKeys({ press: key });
    found.push(focused(element));
  }
  return found;
}

const rowOf = (element: WidgetFixture, name: string): HTMLElement =>
  one(element, `.row[data-id="id-${name}"]`);

describe('the list', () => {
  it('is one tab stop: the row that was focused last', async () => {
    const element = await show(LIST);
    const stops = (): string[] => all(element, '.list [tabindex="0"]').map(({ dataset }) => dataset.id ?? '');
    expect(stops()).to.deep.equal(['id-a']);
    // Tab reaches the buttons of this row, and then leaves the list.
    for (const each of all(element, '.list button'))
      expect(each.tabIndex, each.title).to.equal(each.closest('[data-id=id-a]') ? 0 : -1);
    expect(all(element, '.row').map((row) => row.getAttribute('tabindex'))).to.deep.equal([
      '0',
      '-1',
      '-1',
      '-1',
    ]);
    rowOf(element, 'b').focus();
    await shown(() => stops().join() === 'id-b');
    await element.show(snapshot(LIST.files.filter(({ name }) => name !== 'b')));
    expect(stops()).to.deep.equal(['id-a']);
  });

  it('moves the focus between rows with the arrow keys, and stays at both ends', async () => {
    const element = await show(LIST);
    rowOf(element, 'a').focus();
    expect(await press(element, 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowUp')).to.deep.equal([
      'a',
      'b',
      'c',
      'b',
    ]);
    expect(await press(element, 'End', 'ArrowDown', 'Home')).to.deep.equal(['d', 'd', 'a']);
  });

  it('moves the focus within a row', async () => {
    const element = await show(LIST);
    rowOf(element, 'd').focus();
    const keys = ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft'];
    expect(await press(element, ...keys)).to.deep.equal(['d go', 'd end', 'd end', 'd go']);
    expect(await press(element, 'ArrowLeft', 'ArrowLeft')).to.deep.equal(['d', 'd']);
  });

  it('moves the focus in the direction of the text', async () => {
    const element = await show(LIST);
    element.dir = 'rtl';
    rowOf(element, 'a').focus();
    expect(await press(element, 'ArrowRight', 'ArrowLeft', 'ArrowLeft', 'ArrowRight')).to.deep.equal([
      'a',
      'a go',
      'a end',
      'a go',
    ]);
  });

  it('keeps to the same button in the next row, or focuses the row if it has no such button', async () => {
    const element = await show(LIST);
    rowOf(element, 'a').querySelector<HTMLElement>('[data-action=go]')?.focus();
    expect(await press(element, 'ArrowDown', 'ArrowDown')).to.deep.equal(['b', 'c']);
    rowOf(element, 'b').querySelector<HTMLElement>('[data-action=end]')?.focus();
    expect(await press(element, 'ArrowDown', 'ArrowUp')).to.deep.equal(['c end', 'b end']);
  });

  it('removes a file with Delete or Backspace, from its row and from its buttons', async () => {
    const element = await show(LIST);
    rowOf(element, 'b').focus();
    await press(element, 'Delete', 'ArrowDown', 'ArrowRight', 'Backspace');
    expect(element.calls).to.deep.equal([
      ['remove', 'id-b'],
      ['remove', 'id-c'],
    ]);
    rowOf(element, 'a').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Delete', bubbles: true, repeat: true }),
    );
    expect(element.calls).to.have.length(2);
  });

  it('is left with Escape, which cancels nothing', async () => {
    const element = await show(LIST);
    rowOf(element, 'a').querySelector<HTMLElement>('[data-action=end]')?.focus();
    expect(await press(element, 'Escape')).to.deep.equal(['base']);
    expect(element.calls).to.deep.equal([]);
  });

  it('leaves keys with modifiers, and all keys outside of the rows, to the browser', async () => {
    const element = await show(LIST);
    for (const modifier of ['ctrlKey', 'altKey', 'metaKey', 'shiftKey']) {
      const init = { key: 'Delete', bubbles: true, cancelable: true, [modifier]: true };
      const event = new KeyboardEvent('keydown', init);
      rowOf(element, 'a').dispatchEvent(event);
      expect(event.defaultPrevented, modifier).to.equal(false);
    }
    one(element, '[data-action=browse]').focus();
    expect(await press(element, 'ArrowDown', 'Delete', 'Escape')).to.deep.equal(
      Array(3).fill('button browse-button browse'),
    );
    const other = new KeyboardEvent('keydown', { key: 'x', bubbles: true, cancelable: true });
    rowOf(element, 'a').dispatchEvent(other);
    expect([other.defaultPrevented, element.calls]).to.deep.equal([false, []]);
  });

  it('goes to the ends of a list of which only some rows are rendered', async () => {
    const element = await show('ten-thousand');
    rowOf(element, 'scan-00000.tif').focus();
    await press(element, 'End');
    await shown(() => focused(element) === 'scan-09999.tif');
    await press(element, 'Home');
    await shown(() => focused(element) === 'scan-00000.tif');
    expect(await press(element, 'ArrowDown')).to.deep.equal(['scan-00001.tif']);
  });
});

it('what has the keyboard focus has an outline of 2 px', async () => {
  const element = await show('errors');
  const keys = ['Tab', 'Tab', 'Tab', 'ArrowDown', 'ArrowRight', 'Escape', 'Tab'];
  const outlines = new Set<string>();
  for (const key of keys) {
    await sendKeys({ press: key });
    const active = element.shadowRoot?.activeElement as HTMLElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(active);
    outlines.add(`${outlineStyle} ${outlineWidth}`);
  }
  expect([...outlines]).to.deep.equal(['solid 2px']);
});

describe('the list of the real element', () => {
  /** Opens a list in which the files `names` are being sent, and focuses its first row. */
  async function open(...names: string[]): Promise<Stage> {
    const stage = await world({ element: true, answers: ['open', 'presign'], concurrency: 6 });
    const { element } = stage;
    await element.addFiles(names.map((name) => freshFile(900, name)));
    for (const name of names) await fileReaches(stage, name, 'uploading');
    element.requestUpdate();
    await element.updateComplete;
    all(element, '.row')[0]?.focus();
    return stage;
  }

  it('moves the focus with all its keys, removes a file with Backspace, and stays one tab stop', async () => {
    const stage = await open('a', 'b', 'c');
    const { element } = stage;
    const steps = [
      ['ArrowDown', 'b'],
      ['ArrowRight', 'b go'],
      ['ArrowRight', 'b end'],
      ['ArrowDown', 'c end'],
      ['ArrowLeft', 'c go'],
      ['Home', 'a'],
      ['ArrowUp', 'a'],
      ['End', 'c'],
      ['ArrowUp', 'b'],
      ['Backspace', 'c'],
      ['Escape', 'base'],
    ] as const;
    const names = new Map(element.snapshot.files.map(({ id, name }) => [id, name]));
    const found: string[] = [];
    for (const [key] of steps) {
      await sendKeys({ press: key });
      await element.updateComplete;
      found.push(focused(element, (id) => names.get(id)));
    }
    expect(found).to.deep.equal(steps.map(([, focus]) => focus));
    expect(stateOf(stage)).to.deep.equal(['a uploading', 'b paused user', 'c uploading']);
    const stops = all(element, '.list [tabindex="0"]').map(({ dataset }) => names.get(dataset.id ?? ''));
    expect(stops).to.deep.equal(['c']);
  });

  it('lets the user undo Delete, which focuses the next row', async () => {
    const stage = await open('a.txt', 'b.txt');
    const { element } = stage;
    await sendKeys({ press: 'Delete' });
    await element.updateComplete;
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user', 'b.txt uploading']);
    const [row, ...others] = all(element, '.row');
    expect([others, element.shadowRoot?.activeElement]).to.deep.equal([[], row]);
    expect(row?.tabIndex).to.equal(0);
    one(element, '[data-action=undo]').focus();
    await sendKeys({ press: 'Enter' });
    await fileReaches(stage, 'a.txt', 'uploading');
  });
});

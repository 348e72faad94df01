// Menus: the footer's, and in narrow places those of rows and of the drop zone.

import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { FileSnapshot } from '../../src/index.ts';
import { listenersOf } from '../support/listeners.ts';
import { click } from './accessible.ts';
import { show } from './show.ts';
import { all, button, one, shown } from './support.ts';

const sent = file('sent.txt', 'uploading', 10, 0.5);
const paused = file('paused.txt', 'paused', 10, 0.5, { pauseReason: 'user' });
const LIST = snapshot([sent, paused]);

const focused = ({ shadowRoot }: WidgetFixture): string | undefined => {
  const active = shadowRoot?.activeElement as HTMLElement | null | undefined;
  return active?.dataset.action ?? active?.dataset.id;
};
const isOpen = (element: WidgetFixture): boolean => all(element, '.menu:popover-open').length > 0;
const names = (element: WidgetFixture, place: string): string[] =>
  all(element, `${place} button`)
    .filter((each) => each.checkVisibility())
    .map(({ title, textContent }) => title || (textContent ?? '').trim());

type Step = (element: WidgetFixture) => unknown;

/** Opens the menu of the footer, whose first button then has the focus. */
async function open(frame: Parameters<typeof show>[1] = {}): Promise<WidgetFixture> {
  const element = await show(LIST, frame);
  button(element, 'More actions').focus();
  await sendKeys({ press: 'Enter' });
  await shown(() => focused(element) === 'pause-all');
  return element;
}

describe('a menu', () => {
  it('opens with its first button in focus, and runs an action once', async () => {
    const element = await open();
    await sendKeys({ press: 'Enter' });
    expect(element.calls.filter(([name]) => name !== 'holdUndo')).to.deep.equal([['pause']]);
    expect(isOpen(element)).to.equal(false);
    expect(focused(element)).to.equal('more');
  });

  it('moves the focus with the arrow keys, around its ends', async () => {
    const element = await open();
    const seen: (string | undefined)[] = [];
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'Home', 'End']) {
      await sendKeys({ press: key });
      seen.push(focused(element));
    }
    expect(seen).to.deep.equal(['cancel-all', 'pause-all', 'cancel-all', 'pause-all', 'cancel-all']);
  });

  it('closes with Escape, and gives the focus back', async () => {
    const element = await open();
    await sendKeys({ press: 'Escape' });
    await shown(() => !isOpen(element));
    expect(focused(element)).to.equal('more');
    expect(element.calls.filter(([name]) => name !== 'holdUndo')).to.deep.equal([]);
  });

  it('closes with Tab, which continues from its button', async () => {
    const element = await open();
    const after = document.createElement('button');
    element.after(after);
    await sendKeys({ down: 'Shift' });
    await sendKeys({ press: 'Tab' });
    await sendKeys({ up: 'Shift' });
    expect(isOpen(element)).to.equal(false);
    expect(focused(element)).to.equal('resume-all');
    button(element, 'More actions').click();
    await shown(() => focused(element) === 'pause-all');
    await sendKeys({ press: 'Tab' });
    expect(isOpen(element)).to.equal(false);
    expect(document.activeElement).to.equal(after);
    after.remove();
  });

  it('opens and closes with its button', async () => {
    const element = await show(LIST);
    const opener = button(element, 'More actions');
    for (const expected of [true, false, true, false]) {
      await click(opener);
      await shown(() => isOpen(element) === expected);
    }
  });

  it('closes when it gets other actions, and leaves the focus on its button', async () => {
    const element = await open();
    await element.show(snapshot([{ ...sent, phase: 'done' }, paused] as FileSnapshot[]));
    expect(isOpen(element)).to.equal(false);
    expect(focused(element)).to.equal('more');
  });

  it('leaves Ctrl+Z to the uploader', async () => {
    const element = await open();
    const keys: string[] = [];
    one(element, '.base').addEventListener('keydown', ({ key }) => keys.push(key));
    await sendKeys({ press: 'ArrowDown' });
    await sendKeys({ down: 'Control' });
    await sendKeys({ press: 'z' });
    await sendKeys({ up: 'Control' });
    expect(keys.filter((key) => key.length === 1)).to.deep.equal(['z']);
  });

  it('closes when what contains its button scrolls, which scrolls on', async () => {
    const element = await open();
    const after = document.createElement('div');
    after.style.height = '3000px';
    document.body.append(after);
    globalThis.scrollTo(0, 900);
    await shown(() => !isOpen(element));
    await shown(() => globalThis.scrollY === 900);
    // Firefox reports that the page scrolls back later, which would close the menu of the next test.
    const scrolledBack = new Promise((resolve) =>
      document.addEventListener('scroll', resolve, { once: true }),
    );
    after.remove();
    await scrolledBack;
    const many = Array.from({ length: 40 }, (_, index) => file(`${index}.txt`, 'uploading', 10, 0.5));
    const narrow = await show(many, { width: 320 });
    one(narrow, '.row [data-action=more]').click();
    await shown(() => isOpen(narrow));
    one(narrow, '.scroller').scrollTop = 40;
    await shown(() => !isOpen(narrow));
  });

  it('stays open when another part of the page scrolls', async () => {
    const element = await open();
    const box = document.createElement('div');
    box.style.cssText = 'block-size: 50px; overflow: auto';
    box.innerHTML = '<p style="block-size: 500px"></p>';
    document.body.append(box);
    const scrolled = new Promise((resolve) => box.addEventListener('scroll', resolve, { once: true }));
    box.scrollTop = 100;
    await scrolled;
    expect(isOpen(element)).to.equal(true);
    box.remove();
  });

  for (const [title, hasLeft, remove, add] of [
    ['its uploader', true, (each) => each.remove(), (each) => document.body.append(each)],
    ['its list', false, (each) => each.show(snapshot([])), (each) => each.show(LIST)],
  ] as readonly [string, boolean, Step, Step][])
    it(`that is removed with ${title} leaves no listeners on the page, and opens again`, async () => {
      const targets = [listenersOf<EventTarget>(document), listenersOf<EventTarget>(window)];
      const count = (): number => targets.reduce((sum, each) => sum + each.count(), 0);
      const unused = count();
      const element = await show(LIST);
      const closed = count();
      for (let round = 0; round < 2; round += 1) {
        one(element, '.bulk [data-action=more]').click();
        await shown(() => focused(element) === 'pause-all');
        expect(count()).to.equal(closed + 2);
        await remove(element);
        expect(isOpen(element)).to.equal(false);
        expect(count()).to.equal(hasLeft ? unused : closed);
        await add(element);
        expect(count()).to.equal(closed);
      }
      element.remove();
    });

  it('stays open while the list renders', async () => {
    const element = await open();
    await element.show(snapshot([file('sent.txt', 'uploading', 10, 0.7), paused]));
    expect(isOpen(element)).to.equal(true);
    expect(focused(element)).to.equal('pause-all');
  });
});

describe('the place of a menu', () => {
  afterEach(() => document.body.removeAttribute('style'));

  for (const zoom of [1, 2])
    for (const dir of ['ltr', 'rtl'])
      for (const corner of ['start', 'end'])
        it(`is in the window, at its button, in ${dir} at the ${corner} of a page that is zoomed by ${zoom}`, async () => {
          document.body.style.zoom = String(zoom);
          const style = `position: fixed; inset-block-${corner}: 0; inset-inline-${corner}: 0`;
          const element = await show(LIST, { width: 320, style });
          element.dir = dir;
          const opener = button(element, 'More actions');
          opener.click();
          await shown(() => focused(element) === 'pause-all');
          const menu = one(element, '.bulk .menu').getBoundingClientRect();
          const at = opener.getBoundingClientRect();
          const { clientWidth, clientHeight } = document.documentElement;
          // WebKit measures elements in the pixels of styles.
          const windowScale = 'currentCSSZoom' in opener ? 1 : 1 / zoom;
          expect(menu.left).to.be.at.least(0);
          expect(menu.top).to.be.at.least(0);
          expect(menu.right).to.be.at.most(clientWidth * windowScale);
          expect(menu.bottom).to.be.at.most(clientHeight * windowScale);
          expect(Math.min(Math.abs(menu.bottom - at.top), Math.abs(menu.top - at.bottom))).to.be.within(
            3,
            5 * zoom,
          );
          expect(Math.min(Math.abs(menu.left - at.left), Math.abs(menu.right - at.right))).to.be.at.most(1);
        });
});

describe('the menu of a row', () => {
  it('has what users rarely do with a running file, in narrow places', async () => {
    const element = await show(LIST, { width: 320 });
    const row = '.row[data-id="id-sent.txt"]';
    expect(names(element, row)).to.deep.equal(['More actions: sent.txt']);
    button(element, 'More actions: sent.txt').click();
    await shown(() => focused(element) === 'go');
    expect(all(element, `${row} .menu button`).map((each) => each.textContent?.trim())).to.deep.equal([
      'Pause',
      'Cancel',
    ]);
    button(element, 'Pause: sent.txt').click();
    expect(element.calls).to.deep.equal([['pause', 'id-sent.txt']]);
    expect(isOpen(element)).to.equal(false);
  });

  it('is not there in wide places, and leaves what a user has to do beside it', async () => {
    const element = await show(LIST);
    expect(names(element, '.row[data-id="id-sent.txt"]')).to.deep.equal([
      'Pause: sent.txt',
      'Cancel: sent.txt',
    ]);
    const narrow = await show(LIST, { width: 320 });
    expect(names(narrow, '.row[data-id="id-paused.txt"]')).to.deep.equal([
      'Resume: paused.txt',
      'More actions: paused.txt',
    ]);
  });

  it('keeps the keys of the list from its buttons', async () => {
    const element = await show(LIST, { width: 320 });
    button(element, 'More actions: sent.txt').click();
    await shown(() => focused(element) === 'go');
    for (const key of ['Delete', 'ArrowDown', 'Backspace']) await sendKeys({ press: key });
    expect(focused(element)).to.equal('end');
    expect(element.calls).to.deep.equal([]);
  });

  it('is reached with the arrow keys, but its closed buttons are not', async () => {
    const element = await show(LIST, { width: 320 });
    one(element, '.row').focus();
    await sendKeys({ press: 'ArrowRight' });
    expect(focused(element)).to.equal('more');
    await sendKeys({ press: 'ArrowRight' });
    expect(focused(element)).to.equal('more');
  });

  it('never hands the focus to a button that ends the upload', async () => {
    const [a, b] = [
      { ...sent, id: 'id-0' },
      { ...sent, id: 'id-1' },
    ];
    const element = await show([a, b], { width: 320 });
    const isInRow = (): boolean =>
      element.shadowRoot?.activeElement?.closest('[data-id=id-0]') !== null && focused(element) !== 'end';
    one(element, '[data-id=id-0] [data-action=more]').focus();
    for (const next of [
      { ...paused, id: 'id-0' },
      { ...a, phase: 'done' },
    ] as FileSnapshot[]) {
      await element.show(snapshot([next, b]));
      expect(isInRow()).to.equal(true);
    }
    // Nor from an open menu.
    await element.show(snapshot([a, b]));
    one(element, '[data-id=id-0] [data-action=more]').click();
    await shown(() => focused(element) === 'go');
    await element.show(snapshot([{ ...a, phase: 'done' } as FileSnapshot, b]));
    expect(isOpen(element)).to.equal(false);
    expect(isInRow()).to.equal(true);
  });
});

describe('the drop zone above a list', () => {
  it('has one button and a menu in narrow places', async () => {
    const element = await show(LIST, { width: 320 });
    expect(names(element, '.zone')).to.deep.equal(['Choose files', 'More actions: File upload']);
    expect(one(element, '.zone').offsetHeight).to.be.at.most(72);
    one(element, '.zone [data-action=more]').click();
    one(element, '.zone .menu').click();
    expect(element.calls).to.deep.equal([]);
    one(element, '.zone [data-action=more]').click();
    button(element, 'Choose a folder').click();
    expect(element.calls).to.deep.equal([['browse', 'folder']]);
  });

  it('has both in wide places, and while the list is empty', async () => {
    expect(names(await show(LIST), '.zone')).to.deep.equal(['Choose files', 'Choose a folder']);
    expect(names(await show([], { width: 320 }), '.zone')).to.deep.equal(['Choose files', 'Choose a folder']);
  });

  it('keeps its title while files are dragged, and while it is disabled', async () => {
    const element = await show(LIST, { width: 320 });
    const isTitled = (): boolean => one(element, '.zone .title').checkVisibility();
    expect(isTitled()).to.equal(false);
    element.intake = { ...element.intake, dragging: true };
    await element.show(LIST);
    expect(isTitled()).to.equal(true);
    element.intake = { ...element.intake, dragging: false };
    element.rules = { ...element.rules, disabled: true };
    await element.show(LIST);
    expect(isTitled()).to.equal(true);
  });
});

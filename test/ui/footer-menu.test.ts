// The menu of the footer: which actions it has, how it opens and closes, and where it is.

import { expect, fixture, html } from '@open-wc/testing';
import { a11ySnapshot, sendKeys, sendMouse, setViewport } from '@web/test-runner-commands';
import type { Snapshot } from '../../src/index.ts';
import { file, snapshot } from './fixtures/snapshots.ts';
import type { WidgetFixture } from './fixtures/widget-fixture.ts';
import './fixtures/widget-fixture.ts';
import { all, button, one, shown } from './support.ts';

const failed = file('failed.txt', 'failed', 10, 0, { error: { code: 'network', retryable: true } });
const sent = file('sent.txt', 'uploading', 10, 0.5);
const paused = file('paused.txt', 'paused', 10, 0.5, { pauseReason: 'user' });
const offline = file('offline.txt', 'paused', 10, 0.5, { pauseReason: 'offline' });
const MIXED = snapshot([failed, sent, paused]);

async function show(state: Snapshot = MIXED, style = ''): Promise<WidgetFixture> {
  const element = await fixture<WidgetFixture>(html`<widget-fixture style=${style}></widget-fixture>`);
  await element.show(state);
  return element;
}

const visible = (element: WidgetFixture): string[] =>
  all(element, '.bulk button')
    .filter((each) => each.checkVisibility())
    .map((each) => each.title || (each.textContent ?? ''));
const isOpen = (element: WidgetFixture): boolean =>
  element.renderRoot.querySelector('.menu')?.matches(':popover-open') === true;
const focused = ({ shadowRoot }: WidgetFixture): string | undefined =>
  (shadowRoot?.activeElement as HTMLElement | null | undefined)?.dataset.action;

async function clickOn(target: HTMLElement): Promise<void> {
  const { left, top, width, height } = target.getBoundingClientRect();
  const position: [number, number] = [Math.round(left + width / 2), Math.round(top + height / 2)];
  await sendMouse({ type: 'click', position });
}

async function tabBack(): Promise<void> {
  await sendKeys({ down: 'Shift' });
  await sendKeys({ press: 'Tab' });
  await sendKeys({ up: 'Shift' });
}

const MORE = 'More actions';

interface TreeNode {
  readonly role: string;
  readonly name?: string;
  readonly expanded?: boolean;
  readonly description?: string;
  readonly children?: readonly TreeNode[];
}

/** Resolves with state and description of a button in the accessibility tree of Chromium. In other browsers: `undefined`. */
async function statesOf(name: string): Promise<unknown[] | undefined> {
  if (!navigator.userAgent.includes('Chrome/')) return undefined;
  const flat = (node: TreeNode): TreeNode[] => [node, ...(node.children ?? []).flatMap(flat)];
  const tree = (await a11ySnapshot({})) as unknown as TreeNode;
  const found = flat(tree).filter((node) => node.role === 'button' && node.name === name);
  expect(found).to.have.length(1);
  return [found[0]?.expanded, found[0]?.description];
}

describe('the buttons of the footer', () => {
  it('are all visible if there are two', async () => {
    const element = await show(snapshot([sent, sent]));
    expect(visible(element)).to.deep.equal(['Pause all', 'Cancel all']);
    expect(all(element, '.menu')).to.have.length(0);
  });

  it('are the first action and a menu of the others if there are more', async () => {
    const element = await show();
    expect(visible(element)).to.deep.equal(['Pause all', MORE]);
    await clickOn(button(element, MORE));
    expect(visible(element)).to.deep.equal([
      'Pause all',
      MORE,
      'Resume all',
      'Retry failed files',
      'Cancel all',
    ]);
    expect(all(element, '.bulk .primary')).to.have.length(0);
  });

  it('have one main button, which is highlighted if nothing runs', async () => {
    const element = await show(snapshot([failed, paused, paused]));
    expect(visible(element)).to.deep.equal(['Resume all', MORE]);
    expect(all(element, '.bulk .primary').map((each) => each.textContent)).to.deep.equal(['Resume all']);
  });

  for (const [title, before, after] of [
    ['of all files', snapshot([sent, sent]), snapshot([offline, offline])],
    ['beside a menu', MIXED, snapshot([offline, offline])],
  ] as const)
    it(`never give the focus of another button to the one that cancels: ${title}`, async () => {
      const element = await show(before);
      button(element, 'Pause all').focus();
      await element.show(after);
      expect(visible(element)).to.deep.equal(['Cancel all']);
      expect(element.shadowRoot?.activeElement?.classList.contains('row')).to.equal(true);
    });
});

describe('the menu of the footer', () => {
  it('opens and closes with its button', async () => {
    const element = await show();
    button(element, MORE).focus();
    await sendKeys({ press: 'Enter' });
    expect(isOpen(element)).to.equal(true);
    await sendKeys({ press: 'Enter' });
    expect(isOpen(element)).to.equal(false);
  });

  it('has the next tab stops, closes on Escape, and returns the focus', async () => {
    const element = await show();
    button(element, MORE).focus();
    await sendKeys({ press: 'Enter' });
    await sendKeys({ press: 'Tab' });
    expect(focused(element)).to.equal('resume-all');
    await sendKeys({ press: 'Escape' });
    expect(isOpen(element)).to.equal(false);
    expect(focused(element)).to.equal('more');
    expect(element.calls).to.deep.equal([]);
  });

  it('closes on a click elsewhere', async () => {
    const element = await show();
    await clickOn(button(element, MORE));
    await clickOn(one(element, '.headline'));
    expect(isOpen(element)).to.equal(false);
  });

  it('runs an action once, and closes', async () => {
    const element = await show();
    for (const [label, call] of [
      ['Resume all', 'resume'],
      ['Retry failed files', 'retry'],
      ['Cancel all', 'cancel'],
    ] as const) {
      await clickOn(button(element, MORE));
      await clickOn(button(element, label));
      expect(isOpen(element)).to.equal(false);
      expect(element.calls.splice(0)).to.deep.equal([[call]]);
    }
  });

  it('keeps the focus in the footer when the list changes so that there is no menu', async () => {
    const element = await show();
    await clickOn(button(element, MORE));
    button(element, 'Cancel all').focus();
    await element.show(snapshot([sent, sent]));
    expect(focused(element)).to.equal('cancel-all');
    expect(visible(element)).to.deep.equal(['Pause all', 'Cancel all']);
  });

  it('keeps the focus on an action when other actions go', async () => {
    const element = await show();
    await clickOn(button(element, MORE));
    button(element, 'Retry failed files').focus();
    await element.show(snapshot([failed, sent, sent]));
    expect(focused(element)).to.equal('retry-failed');
    expect(isOpen(element)).to.equal(true);
  });

  it('hands the focus to the footer when its action leaves no menu', async () => {
    for (const label of ['Resume all', 'Retry failed files']) {
      const element = await show();
      button(element, MORE).focus();
      await sendKeys({ press: 'Enter' });
      button(element, label).focus();
      button(element, label).addEventListener('click', () => void element.show(snapshot([sent, sent])));
      await sendKeys({ press: 'Enter' });
      await shown(() => all(element, '.menu').length === 0);
      expect(focused(element)).to.equal('pause-all');
      element.remove();
    }
  });

  it('closes when the focus leaves the footer, and not before', async () => {
    const element = await show();
    const next = document.createElement('button');
    element.after(next);
    button(element, MORE).focus();
    await sendKeys({ press: 'Enter' });
    for (const action of ['resume-all', 'retry-failed', 'cancel-all']) {
      await sendKeys({ press: 'Tab' });
      expect(focused(element)).to.equal(action);
      expect(isOpen(element)).to.equal(true);
    }
    await sendKeys({ press: 'Tab' });
    expect(document.activeElement).to.equal(next);
    expect(isOpen(element)).to.equal(false);
    next.remove();
  });

  it('closes when the focus goes back to the list, which it could cover', async () => {
    const element = await show();
    button(element, MORE).focus();
    await sendKeys({ press: 'Enter' });
    await tabBack();
    expect([focused(element), isOpen(element)]).to.deep.equal(['pause-all', true]);
    await tabBack();
    expect(element.shadowRoot?.activeElement?.classList.contains('row')).to.equal(true);
    expect(isOpen(element)).to.equal(false);
  });

  it('is announced as a button that is collapsed or expanded', async () => {
    const element = await show();
    expect((await statesOf(MORE)) ?? [false, undefined]).to.deep.equal([false, undefined]);
    await clickOn(button(element, MORE));
    expect((await statesOf(MORE)) ?? [true, undefined]).to.deep.equal([true, undefined]);
    await expect(element).to.be.accessible();
  });

  it('is one of each element in a page', async () => {
    await setViewport({ width: 720, height: 900 });
    const [first, second] = [await show(), await show()];
    await clickOn(button(first, MORE));
    expect([isOpen(first), isOpen(second)]).to.deep.equal([true, false]);
    await clickOn(button(second, MORE));
    expect([isOpen(first), isOpen(second)]).to.deep.equal([false, true]);
    if (CSS.supports('bottom', 'anchor(top)')) {
      const menu = one(second, '.menu').getBoundingClientRect();
      expect(menu.bottom).to.be.closeTo(button(second, MORE).getBoundingClientRect().top, 20);
    }
    await clickOn(button(second, 'Retry failed files'));
    expect([first.calls, second.calls]).to.deep.equal([[], [['retry']]]);
  });

  it('opens in a dialog, inside of another shadow root', async () => {
    const element = await show();
    const dialog = document.createElement('dialog');
    const outer = document.createElement('div');
    outer.attachShadow({ mode: 'open' }).append(element);
    dialog.append(outer);
    document.body.append(dialog);
    dialog.showModal();
    await element.show(MIXED);
    await clickOn(button(element, MORE));
    await clickOn(button(element, 'Resume all'));
    expect([element.calls, isOpen(element), dialog.open]).to.deep.equal([[['resume']], false, true]);
    await clickOn(button(element, MORE));
    await sendKeys({ press: 'Escape' });
    // WebKit closes the dialog, too.
    expect(isOpen(element)).to.equal(false);
    dialog.remove();
  });

  it('stays open while files are uploaded', async () => {
    const element = await show();
    await clickOn(button(element, MORE));
    await element.show(snapshot([failed, { ...sent, sentBytes: 7 }, paused]));
    expect(isOpen(element)).to.equal(true);
  });

  it('is below its button if there is no place above', async () => {
    await setViewport({ width: 720, height: 900 });
    const element = await show();
    element.style.marginBlockEnd = '900px';
    const opener = button(element, MORE);
    opener.scrollIntoView({ block: 'start' });
    opener.click();
    const menu = one(element, '.menu').getBoundingClientRect();
    const { bottom } = opener.getBoundingClientRect();
    // WebKitGTK leaves the menu above its button.
    if (/Chrome|Firefox/.test(navigator.userAgent)) expect(menu.top).to.be.within(bottom, bottom + 20);
    expect(menu.bottom).to.be.at.most(innerHeight);
  });

  for (const direction of ['ltr', 'rtl'])
    for (const [width, fontSize] of [
      [280, 16],
      [280, 32],
      [700, 16],
    ] as const)
      it(`is in the window and above its button: ${direction}, ${width} px, text of ${fontSize} px`, async () => {
        await setViewport({ width: 720, height: 900 });
        const element = await show(MIXED, `inline-size: ${width}px; font-size: ${fontSize}px`);
        element.dir = direction;
        await element.show(MIXED);
        const opener = button(element, MORE);
        opener.scrollIntoView({ block: 'end' });
        opener.click();
        await shown(() => isOpen(element));
        const menu = one(element, '.menu').getBoundingClientRect();
        const base = opener.getBoundingClientRect();
        expect(menu.left).to.be.at.least(0);
        expect(menu.right).to.be.at.most(innerWidth);
        expect(menu.top).to.be.at.least(0);
        expect(menu.bottom).to.be.at.most(base.top);
        if (CSS.supports('bottom', 'anchor(top)')) {
          expect(menu.bottom).to.be.greaterThan(base.top - 20);
          if (fontSize === 16)
            expect(direction === 'ltr' ? menu.right : menu.left).to.be.closeTo(
              direction === 'ltr' ? base.right : base.left,
              1,
            );
        }
        for (const item of all(element, '.menu button')) {
          expect(item.scrollWidth).to.be.at.most(item.clientWidth);
          expect(item.getBoundingClientRect().height).to.be.at.least(24);
        }
      });
});

// The element after a move to another document: what is asked, warned and focused is what the user sees there.

import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse } from '@web/test-runner-commands';
import type { ReactiveController } from 'lit';
import { FocusController, type FocusHost } from '../../src/ui/focus-controller.ts';
import { freshFile } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { fileReaches, reaches, replace, stateOf, type World, world } from '../support/world.ts';
import { all, button, dragEvent, one, shown, textFile, textOf, transferOf } from './support.ts';

type View = Window & typeof globalThis;
const frames: HTMLIFrameElement[] = [];

afterEach(async () => {
  await resetMouse();
  for (const element of document.querySelectorAll('secure-uploader')) element.remove();
  for (const frame of frames.splice(0)) frame.remove();
});

/** Adds a frame at the top left corner of the page. */
async function addFrame(): Promise<View> {
  const frame = document.createElement('iframe');
  frame.style.cssText =
    'position: fixed; inset: 0 auto auto 0; inline-size: 500px; block-size: 400px; border: 0';
  frame.srcdoc = '<!doctype html><title>Another document</title><body style="margin: 0">';
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
  document.body.append(frame);
  frames.push(frame);
  await loaded;
  return frame.contentWindow as View;
}

async function moveTo(
  stage: { readonly element: HTMLElement & { updateComplete: Promise<unknown> } },
  page: Document,
): Promise<void> {
  page.body.append(stage.element);
  await render(stage as World<true>);
}

async function render({ element }: Pick<World<true>, 'element'>): Promise<void> {
  element.requestUpdate();
  await element.updateComplete;
}

/** Opens a list in which each file is being sent. */
async function open(...names: string[]): Promise<World<true>> {
  const stage = await world({ element: true, answers: ['open', 'presign', 'cancel'], concurrency: 6 });
  await stage.element.addFiles(names.map((name) => freshFile(900, name)));
  for (const name of names) await fileReaches(stage, name, 'uploading');
  await render(stage);
  return stage;
}

const warnings = (...views: Window[]): boolean[] =>
  views.map((view) => !view.dispatchEvent(new Event('beforeunload', { cancelable: true })));

/** Name of the file of the focused row, and the action of the focused button in it. */
function focused({ element }: World<true>): string {
  const active = element.shadowRoot?.activeElement as HTMLElement | null;
  const stem =
    active?.closest('.row')?.querySelector('[part~=file-name]')?.textContent?.replace('.txt', '') ?? '';
  return [stem, active?.dataset.action].filter(Boolean).join(' ');
}

describe('an element that was moved to a frame', () => {
  it('warns who leaves the frame, and no longer who leaves the first page', async () => {
    const stage = await open('a.txt');
    const view = await addFrame();
    expect(warnings(window, view)).to.deep.equal([true, false]);
    await moveTo(stage, view.document);
    expect(warnings(window, view)).to.deep.equal([false, true]);
    await moveTo(stage, document);
    expect(warnings(window, view)).to.deep.equal([true, false]);
    stage.element.remove();
    expect(warnings(window, view)).to.deep.equal([false, false]);
  });

  it('shows progress and keeps the screen on in the frame while the first page is hidden', async () => {
    const stage = await open('a.txt');
    const view = await addFrame();
    const locks: string[] = [];
    for (const [page, name] of [
      [window, 'first'],
      [view, 'frame'],
    ] as const)
      replace(page.navigator, 'wakeLock', {
        request: async () => {
          locks.push(name);
          return { release: async () => locks.push(`${name} released`) };
        },
      });
    const { requestAnimationFrame } = window;
    replace(window, 'requestAnimationFrame', () => 0);
    replace(document, 'visibilityState', 'hidden');
    stage.element.wakeLock = true;
    await moveTo(stage, view.document);
    const paint = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
    while (locks.length === 0) await paint();
    stage.service.answerAll();
    while (!textOf(stage.element).includes('a.txt Done')) await paint();
    expect(locks).to.deep.equal(['frame', 'frame released']);
  });

  it('shows in the first page what happened in a frame that was closed', async () => {
    const stage = await open('a.txt');
    const view = await addFrame();
    replace(view, 'requestAnimationFrame' as never, () => 0);
    await moveTo(stage, view.document);
    stage.service.answerAll();
    await fileReaches(stage, 'a.txt', 'done');
    document.body.append(stage.element);
    await shown(() => textOf(stage.element).includes('a.txt Done'));
  });

  it('shows no longer that a drop is read if it ends before the next frame', async () => {
    const stage = await world({ element: true, manual: true });
    const view = await addFrame();
    await moveTo(stage, view.document);
    const waiting: FrameRequestCallback[] = [];
    replace(view, 'requestAnimationFrame' as never, (next: FrameRequestCallback) => waiting.push(next));
    stage.element.dispatchEvent(dragEvent('drop', transferOf(textFile('a.txt'))));
    await until(() => stage.element.snapshot.files.length === 1);
    for (const next of waiting.splice(0)) next(0);
    await render(stage);
    expect(textOf(stage.element)).to.contain('a.txt').and.not.contain('Reading');
  });

  it('completes a cancel when the frame is left, and not when the first page is', async () => {
    const stage = await open('a.txt');
    const view = await addFrame();
    await moveTo(stage, view.document);
    button(stage.element, 'Cancel: a.txt').click();
    const leave = (page: Window): boolean => page.dispatchEvent(new Event('pagehide'));
    leave(window);
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user']);
    leave(view);
    await reaches(stage, ['a.txt canceled']);
  });

  it('takes the keys of its list, and gives the focus of a removed button to the next one', async () => {
    const stage = await open('a.txt', 'b.txt', 'c.txt');
    const view = await addFrame();
    await moveTo(stage, view.document);
    all(stage.element, '.row')[0]?.focus();
    const seen: string[] = [];
    view.addEventListener('keydown', ({ key }) => seen.push(key));
    for (const [key, place] of [
      ['ArrowDown', 'b'],
      ['ArrowRight', 'b go'],
      ['End', 'c'],
      ['ArrowUp', 'b'],
      ['ArrowRight', 'b go'],
    ] as const) {
      await sendKeys({ press: key });
      expect(focused(stage), key).to.equal(place);
    }
    expect(seen).to.deep.equal([]);
    const { id = '' } = stage.element.snapshot.files.find(({ name }) => name === 'b.txt') ?? {};
    await stage.element.remove(id);
    await shown(() => all(stage.element, '.row').length === 2);
    expect(focused(stage)).to.equal('c go');
  });

  it('goes to the end of a long list with a key', async () => {
    const stage = await world({ element: true, manual: true });
    const view = await addFrame();
    await stage.element.addFiles(Array.from({ length: 1000 }, (_, index) => textFile(`${index}.txt`)));
    await moveTo(stage, view.document);
    all(stage.element, '.row')[0]?.focus();
    await sendKeys({ press: 'End' });
    await shown(() => focused(stage) === '999');
    await shown(() => {
      const { top, bottom } = one(stage.element, '.row:focus').getBoundingClientRect();
      // WebKit leaves some pixels of it below the edge.
      return top >= 0 && bottom < view.innerHeight + 10;
    });
    await sendKeys({ press: 'Home' });
    await shown(() => focused(stage) === '0');
  });

  it('focuses the panel of a lost window when the user comes back to the frame', async () => {
    const controllers: ReactiveController[] = [];
    const element = document.body.appendChild(document.createElement('div'));
    const renderRoot = element.attachShadow({ mode: 'open' });
    renderRoot.innerHTML = '<p data-state="popup-lost" tabindex="-1"></p>';
    const addController = (controller: ReactiveController): unknown => controllers.push(controller);
    new FocusController({ renderRoot, addController } as unknown as FocusHost);
    const view = await addFrame();
    const cameBack = (): boolean[] =>
      [window, view].map((page) => {
        (renderRoot.activeElement as HTMLElement | null)?.blur();
        page.dispatchEvent(new Event('focus'));
        return renderRoot.activeElement !== null;
      });
    for (const controller of controllers) controller.hostConnected?.();
    expect(cameBack()).to.deep.equal([true, false]);
    view.document.body.append(element);
    for (const controller of controllers) controller.hostDisconnected?.();
    for (const controller of controllers) controller.hostConnected?.();
    expect(cameBack()).to.deep.equal([false, true]);
  });

  it('opens the picker of the frame, and none on a link or on selected text of that document', async () => {
    const stage = await world({ element: true });
    const view = await addFrame();
    for (const [page, name] of [
      [window, 'first'],
      [view, 'frame'],
    ] as const)
      replace(page, 'showOpenFilePicker' as never, async () => {
        stage.asked.push(`picker of ${name}`);
        return [];
      });
    const hint = view.document.createElement('p');
    hint.slot = 'hint';
    hint.style.margin = '0';
    hint.innerHTML = '<a href="javascript:">Terms</a> <span>Some words that can be selected</span>';
    stage.element.append(hint);
    await moveTo(stage, view.document);
    const at = (element: Element, share: number): [number, number] => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [Math.round(left + width * share), Math.round(top + height / 2)];
    };
    hint.addEventListener('click', ({ target }) => stage.asked.push((target as Element).localName));
    const [link, words] = [...hint.children] as [Element, Element];
    await sendMouse({ type: 'click', position: at(link, 0.5) });
    expect(stage.asked.splice(0)).to.deep.equal(['a']);
    await sendMouse({ type: 'move', position: at(words, 0.1) });
    await sendMouse({ type: 'down' });
    await sendMouse({ type: 'move', position: at(words, 0.6) });
    await sendMouse({ type: 'up' });
    expect(String(view.getSelection())).not.to.equal('');
    expect(stage.asked.splice(0)).to.deep.equal(['span']);
    await sendMouse({ type: 'click', position: at(one(stage.element, '.badge'), 0.5) });
    expect(stage.asked).to.deep.equal(['picker of frame']);
  });

  it('leaves drops to the fields of that document, and everything to the first one', async () => {
    const stage = await world({ element: true, manual: true });
    const view = await addFrame();
    await moveTo(stage, view.document);
    const isPrevented = (target: Element, type = 'dragover'): boolean =>
      !target.dispatchEvent(dragEvent(type, transferOf(textFile('a.txt'))));
    const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true });
    Object.defineProperty(paste, 'clipboardData', { value: transferOf(textFile('a.txt')) });
    expect([isPrevented(document.body), document.body.dispatchEvent(paste)]).to.deep.equal([false, true]);
    const page = view.document.body;
    page.insertAdjacentHTML(
      'beforeend',
      '<input type="file"><textarea></textarea><closed-in-frame></closed-in-frame><p>',
    );
    view.customElements.define(
      'closed-in-frame',
      class extends view.HTMLElement {
        constructor() {
          super();
          this.attachShadow({ mode: 'closed' }).innerHTML = '<input type="file">';
        }
      },
    );
    const found = [...page.children].filter((child) => child !== stage.element);
    expect(found.map((child) => [child.localName, isPrevented(child)])).to.deep.equal([
      ['input', false],
      ['textarea', false],
      ['closed-in-frame', false],
      ['p', true],
    ]);
    expect(isPrevented(stage.element, 'drop')).to.equal(true);
    await until(() => stage.element.snapshot.files.length === 1);
  });
});

it('an element in a document without a window throws nothing, and works after the way back', async () => {
  const stage = await open('a.txt');
  const errors: string[] = [];
  const onError = (event: ErrorEvent): void => void errors.push(event.message);
  window.addEventListener('error', onError);
  const inert = document.implementation.createHTMLDocument('');
  await moveTo(stage, inert);
  window.removeEventListener('error', onError);
  expect(errors).to.deep.equal([]);
  await moveTo(stage, document);
  expect(warnings(window)).to.deep.equal([true]);
  expect(getComputedStyle(one(stage.element, '.silent')).position).to.equal('absolute');
  stage.service.answerAll();
  await fileReaches(stage, 'a.txt', 'done');
});

// The element in places that are not made for it: translated pages, other documents, containers that scroll.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { removeStages, stage, title } from './login-stage.ts';
import { all, dragEvent, nextEvent, one, shown, textFile, textOf, transferOf } from './support.ts';

/** Replaces each text as translators do. */
function translate(root: Node): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts.filter(({ data }) => data.trim())) {
    const [outer, inner] = [document.createElement('font'), document.createElement('font')];
    inner.textContent = `„${text.data}“`;
    outer.append(inner);
    text.replaceWith(outer);
  }
}

describe('a translated page', () => {
  it('shows and announces new texts', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true, accept: '.txt' });
    await element.addFiles(textFile('a.txt'));
    await shown(() => textOf(element).includes('1 file ready'));
    translate(element.renderRoot);
    expect(textOf(element)).to.contain('„1 file ready');
    await element.addFiles(textFile('b.txt'));
    await shown(() => textOf(element).includes('2 files ready'));
    const alert = (): string => one(element, '[role=alert].silent').textContent ?? '';
    await element.addFiles(textFile('a.exe'));
    await shown(() => alert().includes('a.exe'));
    translate(element.renderRoot);
    await element.addFiles(textFile('b.exe'));
    await shown(() => alert().includes('b.exe'));
    expect(alert()).not.to.contain('a.exe');
  });

  it('shows the next step of the sign-in form', async () => {
    const made = await stage();
    const before = title(made);
    translate(made.element);
    made.element.messages = { logIn: 'Another title' };
    await made.element.updateComplete;
    expect(title(made)).to.equal('Another title');
    expect(before).not.to.equal('Another title');
    removeStages();
  });
});

describe('an announcement', () => {
  it('changes the live region each time, also if the text is the same', async () => {
    const { element } = await world({ element: true, service: 'reference', accept: '.pdf' });
    const region = one(element, '[role=alert].silent');
    let changeCount = 0;
    const observer = new MutationObserver((records) => {
      changeCount += records.filter(({ addedNodes }) => addedNodes.length > 0).length;
    });
    observer.observe(region, { childList: true, subtree: true, characterData: true });
    for (let count = 1; count <= 3; count++) {
      await element.addFiles(textFile('a.exe'));
      await until(() => changeCount === count);
    }
    observer.disconnect();
  });
});

describe('the element in another document', () => {
  const frameFor = async (): Promise<HTMLIFrameElement> => {
    const frame = document.createElement('iframe');
    frame.srcdoc = '<!doctype html><title>Another document</title><p>Text</p>';
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.append(frame);
    await loaded;
    return frame;
  };

  it('keeps its styles, and takes drops and pastes of that document', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const width = getComputedStyle(one(element, '.base')).borderTopWidth;
    const frame = await frameFor();
    const inner = frame.contentDocument as Document;
    inner.body.append(element);
    await element.updateComplete;
    const view = frame.contentWindow as Window & typeof globalThis;
    expect(view.getComputedStyle(one(element, '.base')).borderTopWidth).to.equal(width);
    expect(view.getComputedStyle(one(element, '.silent')).position).to.equal('absolute');
    const stray = dragEvent('drop', transferOf(textFile('stray.txt')));
    inner.body.dispatchEvent(stray);
    expect(stray.defaultPrevented).to.equal(true);
    const added = nextEvent(element, 'file-added');
    const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'clipboardData', { value: transferOf(textFile('pasted.png')) });
    inner.body.dispatchEvent(event);
    expect((await added).detail.name).to.equal('pasted.png');
    const another = new view.File(['text'], 'another.txt');
    expect(another).not.to.be.an.instanceof(File);
    await element.addFiles(another);
    await until(() => element.snapshot.files.some(({ name }) => name === 'another.txt'));
    expect(element.snapshot.rejections).to.deep.equal([]);
    document.body.append(element);
    await element.updateComplete;
    expect(getComputedStyle(one(element, '.base')).borderTopWidth).to.equal(width);
    element.remove();
    frame.remove();
  });

  it('takes the sign-in form along', async () => {
    const made = await stage();
    const frame = await frameFor();
    (frame.contentDocument as Document).body.append(made.element);
    await made.element.updateComplete;
    const { adoptedStyleSheets } = frame.contentDocument as Document;
    expect(adoptedStyleSheets).to.have.length(1);
    removeStages();
    frame.remove();
  });
});

describe('the list in a container that scrolls', () => {
  const addMany = async (element: SecureUploader, count: number): Promise<void> => {
    await element.addFiles(Array.from({ length: count }, (_, index) => textFile(`${index}.txt`)));
    await until(() => element.snapshot.files.length === count);
    await element.updateComplete;
  };

  it('makes neither the container nor the document taller', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const box = document.createElement('div');
    box.style.cssText = 'block-size: 200px; overflow: auto';
    element.replaceWith(box);
    box.append(element);
    element.style.setProperty('--secure-uploader-list-height', 'none');
    const heightBefore = document.documentElement.scrollHeight;
    await addMany(element, 200);
    await shown(() => box.scrollHeight > document.documentElement.clientHeight);
    expect(document.documentElement.scrollHeight).to.equal(heightBefore);
    box.remove();
  });

  it('shows the rows of its place on a page that is zoomed or scaled', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await addMany(element, 1000);
    const scroller = one(element, '.scroller');
    for (const style of ['zoom: 0.5', 'zoom: 2', 'scale: 0.5']) {
      element.style.cssText = style;
      for (const place of [30_000, 50_000, 100]) {
        scroller.scrollTop = place;
        await shown(() => {
          const { top, bottom } = scroller.getBoundingClientRect();
          const rows = all(element, '.row').map((row) => row.getBoundingClientRect());
          return rows.some((row) => row.top <= top + 1) && rows.some((row) => row.bottom >= bottom - 1);
        });
      }
    }
    element.remove();
  });

  it('renders no more rows while it is not displayed', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await addMany(element, 200);
    element.hidden = true;
    for (let count = 0; count < 20; count++) {
      element.requestUpdate();
      await element.updateComplete;
      await new Promise(requestAnimationFrame);
    }
    expect(all(element, '.row')).to.have.length.within(1, 50);
    element.remove();
  });

  it('stays where the page jumps to', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    element.style.setProperty('--secure-uploader-list-height', 'none');
    await addMany(element, 1000);
    await shown(() => document.documentElement.scrollHeight > 50_000);
    for (const place of [5000, 20_000, 3000]) {
      scrollTo(0, place);
      for (let count = 0; count < 60; count++) await new Promise(requestAnimationFrame);
      expect(scrollY, `${place}`).to.be.within(place - 500, place + 500);
      const rows = all(element, '.row').map((row) => row.getBoundingClientRect());
      expect(rows.some(({ top }) => top <= 0) && rows.some(({ bottom }) => bottom >= innerHeight)).to.equal(
        true,
      );
    }
    scrollTo(0, 0);
    element.remove();
  });
});

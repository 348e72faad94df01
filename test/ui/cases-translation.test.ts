// The element while an add-on translates the page: texts in several parts, beside the original, and translated all the time.

import { expect } from '@open-wc/testing';
import { resetMouse, sendMouse } from '@web/test-runner-commands';
import { ENGLISH } from '../../src/locales/en.ts';
import { freshFile } from '../support/bytes.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { fileReaches, world } from '../support/world.ts';
import { click, press } from './accessible.ts';
import { removeStages, stage } from './login-stage.ts';
import { all, button, one, shown, textFile, textOf } from './support.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await resetMouse();
});

const font = (...content: (string | Node)[]): HTMLElement => {
  const made = document.createElement('font');
  made.append(...content);
  return made;
};

/** Returns the texts that a translator has not seen yet. */
function untranslated(root: Node): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  return texts.filter(({ data, parentElement }) => data.trim() && !parentElement?.closest('font'));
}

/** Replaces texts as Google Translate does: an outer font for a text, and an inner font for each sentence of it. */
function translate(root: Node): void {
  for (const text of untranslated(root)) {
    const sentences = text.data.split(/(?<=\. )/);
    text.replaceWith(font(...sentences.map((sentence) => font(`„${sentence}“`))));
  }
}

/** Adds each translation after its text, as add-ons do that show both languages. */
function translateBeside(root: Node): void {
  for (const text of untranslated(root))
    if (!text.nextSibling) text.after(font(document.createElement('br'), font(`„${text.data}“`)));
}

/** Adds the translation of an element at its end, with a class, as add-ons do for paragraphs with several parts. */
function translateWhole(element: HTMLElement): void {
  const added = font(`„${element.textContent?.trim()}“`);
  added.className = 'notranslate';
  element.append(added);
}

/** Translates whatever the element shows from now on. */
function keepTranslating(root: Node): void {
  const watch = { childList: true, characterData: true, subtree: true };
  const observer = new MutationObserver(() => {
    translate(root);
    observer.takeRecords();
  });
  translate(root);
  observer.observe(root, watch);
  ends.push(() => observer.disconnect());
}

describe('a text that an add-on has translated', () => {
  it('sentence by sentence leaves nothing when another text takes its place', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true, accept: '.txt' });
    await element.addFiles(textFile('a.exe'));
    const reason = (): string => one(element, '[part=rejection-reason]').textContent?.trim() ?? '';
    await shown(() => all(element, '[part=rejection-reason]').length === 1);
    translate(element.renderRoot);
    expect(reason()).to.contain('“„Choose another file.');
    element.messages = { 'file-type-refused': 'Andere Dateien, bitte.', limit: () => '' };
    await element.updateComplete;
    expect(reason()).to.equal('Andere Dateien, bitte.');
  });

  it('is followed by the translation of the new text only, if the add-on shows both', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await element.addFiles(textFile('a.txt'));
    const headline = (): string => one(element, '[part=headline]').textContent?.trim() ?? '';
    await shown(() => textOf(element).includes('1 file ready'));
    translateBeside(element.renderRoot);
    expect(headline()).to.equal('1 file ready to upload„1 file ready to upload“');
    await element.addFiles(textFile('b.txt'));
    await shown(() => headline().startsWith('2 files'));
    expect(headline()).to.equal('2 files ready to upload');
  });

  it('is followed by the translation of the whole line until the line changes', async () => {
    const { element } = await world({ element: true, manual: true });
    await element.addFiles(freshFile(900, 'a.txt'));
    const line = await shown(() => all(element, '.row .status')[0]);
    translateWhole(line);
    const both = line.textContent;
    element.requestUpdate();
    await element.updateComplete;
    expect(line.textContent).to.equal(both);
    element.messages = { phases: { ...ENGLISH.phases, queued: 'On hold' } };
    await element.updateComplete;
    expect(line.textContent?.trim()).to.match(/^On hold\s*900 bytes$/);
  });

  it('stays in its place with a class, and if the add-on uses two parts', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true, accept: '.txt' });
    await element.addFiles(textFile('a.exe'));
    const reason = await shown(() => all(element, '[part=rejection-reason]')[0]);
    const [text] = untranslated(reason);
    const marked = font('Eins. ');
    marked.className = 'highlight';
    text?.replaceWith(marked, font('Zwei.'));
    for (let count = 0; count < 2; count++) {
      element.requestUpdate();
      await element.updateComplete;
    }
    expect(reason.textContent?.trim()).to.equal('Eins. Zwei.');
  });

  it('changes in a form that is in a live region of the page', async () => {
    const { element } = await stage({});
    const live = document.createElement('main');
    live.setAttribute('aria-live', 'polite');
    element.replaceWith(live);
    live.append(element);
    const title = await shown(() => element.querySelector('h2') ?? undefined);
    translate(title);
    element.messages = { logIn: 'Another title' };
    await element.updateComplete;
    expect(title.textContent).to.equal('Another title');
    removeStages();
  });

  it('stays while a button with it is pressed, so that the click counts', async () => {
    const { element } = await world({ element: true, answers: ['open', 'presign'] });
    await element.addFiles([freshFile(900, 'a.txt'), freshFile(900, 'b.txt')]);
    const cancel = await shown(() =>
      all(element, 'button').find((one) => one.textContent?.trim() === 'Cancel all'),
    );
    keepTranslating(element.renderRoot);
    cancel.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = cancel.getBoundingClientRect();
    await sendMouse({
      type: 'move',
      position: [left + width / 2, top + height / 2].map(Math.round) as [number, number],
    });
    await sendMouse({ type: 'down' });
    element.requestUpdate();
    await element.updateComplete;
    await sendMouse({ type: 'up' });
    await shown(() => all(element, '[part~=undo-button]')[0]);
  });

  it('is the current one after a file was removed and brought back with the mouse', async () => {
    const { element } = await world({ element: true, manual: true });
    await element.addFiles(['a.txt', 'b.txt'].map((name) => freshFile(900, name)));
    await shown(() => textOf(element).includes('2 files ready'));
    keepTranslating(element.renderRoot);
    await click(button(element, 'Cancel: a.txt'));
    await shown(() => textOf(element).includes('„1 file ready'));
    const undo = await shown(() => all(element, '[part~=undo-button]')[0]);
    expect(textOf(element)).not.to.contain('2 files ready');
    await click(undo);
    await shown(() => textOf(element).includes('„2 files ready'));
    expect(all(element, '.row')).to.have.length(2);
    expect(all(element, '[part~=undo]')).to.have.length(0);
    expect(textOf(element)).not.to.contain('1 file ready');
  });

  it('changes once for each key that pauses and resumes', async () => {
    const own = await world({ element: true, answers: ['open', 'presign'] });
    const { element } = own;
    await element.addFiles(freshFile(900, 'a.txt'));
    await fileReaches(own, 'a.txt', 'uploading');
    keepTranslating(element.renderRoot);
    const label = (): string => one(element, '.row .phase').textContent?.trim() ?? '';
    await shown(() => label().startsWith('„'));
    for (const [name, text] of [
      ['Pause: a.txt', 'Paused'],
      ['Resume: a.txt', 'Uploading'],
      ['Pause: a.txt', 'Paused'],
    ] as const) {
      await press(await shown(() => all(element, 'button').find(({ title }) => title === name)), 'Enter');
      await shown(() => label().includes(text));
      await shown(() => label().includes('“'));
      expect(label().match(/\w+/g), name).to.deep.equal([text]);
    }
  });
});

describe('an announcement on a page that is translated all the time', () => {
  /** Counts how often something was added to a live region. */
  function additionsOf(region: Node): () => number {
    let count = 0;
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) count += addedNodes.length;
    });
    observer.observe(region, { childList: true, subtree: true, characterData: true });
    ends.push(() => observer.disconnect());
    return () => count;
  }

  it('is not spoken again by the renderings that follow', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true, accept: '.txt' });
    const region = one(element, '[role=alert].silent');
    keepTranslating(element.renderRoot);
    const count = additionsOf(region);
    await element.addFiles(textFile('a.exe'));
    // The sentence, and its translation.
    await shown(() => count() === 2);
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      await element.addFiles(textFile(name));
      await shown(() => textOf(element).includes(`„${name}“`));
    }
    expect(count()).to.equal(2);
    expect(region.textContent).to.contain('“');
  });

  it('is spoken again if it is made again, and leaves nothing after five seconds', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true, accept: '.txt' });
    const region = one(element, '[role=alert].silent');
    keepTranslating(element.renderRoot);
    const count = additionsOf(region);
    const clock: Clock = stopClock();
    ends.push(() => clock.restore());
    for (const expected of [2, 4]) {
      await element.addFiles(textFile('a.exe'));
      await clock.pass(300);
      await element.updateComplete;
      await clock.pass(0);
      expect(count()).to.equal(expected);
      expect(region.textContent).to.contain('“');
    }
    await clock.pass(5000);
    await element.updateComplete;
    expect(region.textContent).to.equal('');
    expect(region.children).to.have.length(0);
  });
});

// Pasted files: which ones the element takes, and which it leaves to the page. test/e2e/page-around.test.ts has real ones.

import { expect } from '@open-wc/testing';
import { until } from '../support/collect.ts';
import { createDropPage, type DropPage, type Place, words } from './fixtures/drop-page.ts';
import { textFile, transferOf } from './support.ts';

let page: DropPage;

beforeEach(() => {
  page = createDropPage();
});

afterEach(() => page.remove());

describe('a paste', () => {
  function paste(place: Place, data: DataTransfer | null = transferOf(textFile('a.txt'))): boolean {
    const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'clipboardData', { value: data });
    page.places[place].dispatchEvent(event);
    return event.defaultPrevented;
  }

  for (const [title, place, isTaken] of [
    ['of a file on the page is added', 'page', true],
    ['of a file on a drawing is added', 'drawing', true],
    ['of a file on the element is added', 'host', true],
    ['of a file in a text field is ignored', 'text field', false],
    ['of a file in a text area is ignored', 'text area', false],
    ['of a file in editable text is ignored', 'editable', false],
  ] as const)
    it(title, async () => {
      expect(paste(place)).to.equal(isTaken);
      await until(() => page.files.length === (isTaken ? 1 : 0));
    });

  it('of text, or of nothing, is ignored', () => {
    for (const data of [words(), null, new DataTransfer()]) expect(paste('page', data)).to.equal(false);
  });

  it('that claims to have files, and has none, is ignored', () => {
    expect(paste('page', { types: ['Files'], files: [] } as unknown as DataTransfer)).to.equal(false);
  });

  it('goes only to the element that has the focus', () => {
    (page.places.another as HTMLElement).focus();
    expect(paste('page')).to.equal(false);
    page.host.focus();
    expect(paste('page')).to.equal(true);
  });

  it('of a file is left to what could want it, and focuses nothing', () => {
    const { places, host } = page;
    const beside = places.page.appendChild(document.createElement('div'));
    for (const [html, isTaken] of [
      ['<button>Button</button>', true],
      ['<div tabindex="-1">Focused by a script</div>', true],
      ['<button role="gridcell">Cell</button>', false],
      ['<div tabindex="-1" role="grid">Table</div>', false],
      ['<div tabindex="0">Reachable with Tab</div>', false],
      ['<my-canvas tabindex="-1">Element of its own</my-canvas>', false],
    ] as const) {
      beside.innerHTML = html;
      const child = beside.firstElementChild as HTMLElement;
      child.focus();
      const seen: string[] = [];
      for (const target of [child, host])
        for (const type of ['focus', 'blur']) target.addEventListener(type, () => seen.push(type));
      expect(paste('page'), html).to.equal(isTaken);
      expect(document.activeElement).to.equal(child);
      expect(seen).to.deep.equal([]);
    }
  });

  it('of a file is ignored if the element cannot be reached', () => {
    const { host, places } = page;
    const dialog = places.page.appendChild(document.createElement('div'));
    dialog.textContent = 'A dialog';
    for (const change of [
      { hidden: true },
      { inert: true },
      { ariaHidden: 'true' },
      { style: 'visibility: hidden' },
      { style: 'content-visibility: hidden' },
    ]) {
      Object.assign(host.parentElement as HTMLElement, change);
      expect(paste('page'), JSON.stringify(change)).to.equal(false);
      for (const name of ['hidden', 'inert', 'aria-hidden', 'style'])
        host.parentElement?.removeAttribute(name);
      expect(paste('page'), `not ${JSON.stringify(change)}`).to.equal(true);
    }
    dialog.ariaModal = 'true';
    expect(paste('page'), 'behind a dialog').to.equal(false);
    dialog.style.display = 'none';
    expect(paste('page'), 'the dialog is not displayed').to.equal(true);
    dialog.style.display = '';
    dialog.append(host);
    expect(paste('page'), 'in the dialog').to.equal(true);
  });

  for (const [title, name, text, isTaken] of [
    ['its name', 'a b.txt', 'a b.txt', true],
    ['its path', 'a b.txt', 'C:\\Users\\me\\a b.txt', true],
    ['its URL', 'a b.txt', 'file:///home/me/a%20b.txt', true],
    ['words that end with its name', 'a.txt', 'see a.txt', false],
    ['another text', 'image.png', 'A1\tB1', false],
  ] as const)
    it(`of a file with ${title} is ${isTaken ? 'added' : 'ignored'}`, () => {
      const data = transferOf(textFile(name));
      data.setData('text/plain', text);
      expect(paste('page', data)).to.equal(isTaken);
    });

  it('that the page handles itself, or while the element is disabled, is ignored', () => {
    page.places.page.addEventListener('paste', (event) => event.preventDefault(), { once: true });
    paste('page');
    page.host.disabled = true;
    expect(paste('page')).to.equal(false);
    expect(page.files).to.deep.equal([]);
  });

  it('of pictures from the clipboard gives each its own name', async () => {
    for (let count = 0; count < 3; count++)
      paste('page', transferOf(new File(['picture'], 'image.png', { type: 'image/png' })));
    await until(() => page.files.length === 3);
    expect(new Set(page.files)).to.have.length(3);
    for (const name of page.files)
      expect(name).to.match(/^image \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d( \(\d\))?\.png$/);
  });
});

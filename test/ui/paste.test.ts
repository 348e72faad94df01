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

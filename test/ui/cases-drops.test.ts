// Drops and pastes that browsers, other programs and impatient users make. test/e2e/cases-drops.test.ts has real drags.

import { expect } from '@open-wc/testing';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { shown, textFile, textOf } from './support.ts';

type Item = Record<string, unknown>;

/** Data of a drag or of the clipboard. Browsers let scripts put no folders into a `DataTransfer`. */
const dataOf = (items: Item[], text = ''): DataTransfer =>
  ({
    types: ['Files'],
    items,
    files: items.filter(({ kind }) => kind === 'file').map(() => textFile('x')),
    getData: () => text,
    dropEffect: 'none',
  }) as unknown as DataTransfer;

const itemOf = (entry: object, file: File | null = null): Item => ({
  kind: 'file',
  getAsFile: () => file,
  webkitGetAsEntry: () => entry,
});

const words = (type: string): Item => ({ kind: 'string', type, getAsFile: () => null });

const fileEntry = (name: string, file: File | undefined = textFile(name)): object => ({
  name,
  isFile: true,
  file: (done: (file: File) => void, fail: (error: Error) => void) =>
    file ? done(file) : fail(new DOMException('of the browser', 'NotReadableError')),
});

const unreadable = (name: string): object => ({
  ...fileEntry(name),
  file: (_: unknown, fail: (error: Error) => void) => fail(new DOMException('no', 'NotReadableError')),
});

/** A folder whose children are listed once `ready` resolves. */
const folderEntry = (name: string, children: object[], ready = Promise.resolve()): object => ({
  name,
  isDirectory: true,
  createReader: () => {
    const batches = [children, []];
    return {
      readEntries: (done: (entries: object[]) => void) => void ready.then(() => done(batches.shift() ?? [])),
    };
  },
});

function send(element: HTMLElement, type: 'drop' | 'paste', data: DataTransfer): boolean {
  const event =
    type === 'drop'
      ? new DragEvent('drop', { bubbles: true, cancelable: true, composed: true })
      : new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true });
  Object.defineProperty(event, type === 'drop' ? 'dataTransfer' : 'clipboardData', { value: data });
  element.dispatchEvent(event);
  return event.defaultPrevented;
}

describe('two drops at the same time', () => {
  it('show that files are read until both have ended, and count the skipped folders of both', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    let list = (): void => undefined;
    const ready = new Promise<void>((resolve) => {
      list = resolve;
    });
    const slow = folderEntry('slow', [folderEntry('inner', []), fileEntry('late.txt')], ready);
    send(element, 'drop', dataOf([itemOf(fileEntry('early.txt')), itemOf(slow)]));
    await shown(() => textOf(element).includes('1 file found'));
    send(
      element,
      'drop',
      dataOf([itemOf(folderEntry('quick', [folderEntry('none', []), fileEntry('b.txt')]))]),
    );
    await until(() => element.snapshot.files.length === 1);
    await element.updateComplete;
    await new Promise(requestAnimationFrame);
    expect(textOf(element)).to.contain('Reading files');
    list();
    await until(() => element.snapshot.files.length === 3);
    await element.updateComplete;
    expect(textOf(element)).not.to.contain('Reading files');
    expect(textOf(element)).to.contain('2 empty folders were skipped.');
  });
});

describe('a drag of another program', () => {
  it('that promises files and has only texts gets an answer', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    expect(send(element, 'drop', dataOf([words('text/plain'), words('text/html')]))).to.equal(true);
    await until(() => element.snapshot.rejections.length > 0);
    expect(element.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['file-unreadable']);
    const panel = await shown(() => element.renderRoot.querySelector('[part=rejections]'));
    expect(panel.textContent).to.contain('?');
  });

  it('that has a picture and its address adds only the picture', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const picture = textFile('cat.png', 'image/png');
    const data = dataOf([
      words('text/uri-list'),
      words('text/html'),
      { kind: 'file', getAsFile: () => picture },
    ]);
    send(element, 'drop', data);
    await until(() => element.snapshot.files.length > 0);
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['cat.png']);
    expect(element.snapshot.rejections).to.deep.equal([]);
  });
});

describe('a folder from the clipboard', () => {
  it('is added with its paths, and what cannot be read is named', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const inner = folderEntry('2024', [fileEntry('image.png'), unreadable('locked.txt')]);
    const folder = folderEntry('Trip', [fileEntry('image.png'), inner, fileEntry('.DS_Store')]);
    expect(send(element, 'paste', dataOf([itemOf(folder)]))).to.equal(true);
    await until(() => element.snapshot.rejections.length > 0);
    expect(element.snapshot.files.map(({ name, relativePath }) => [name, relativePath])).to.deep.equal([
      ['image.png', 'Trip/image.png'],
      ['image.png', 'Trip/2024/image.png'],
    ]);
    expect(element.snapshot.rejections.map(({ relativePath }) => relativePath)).to.deep.equal([
      'Trip/2024/locked.txt',
    ]);
  });
});

describe('a file from the clipboard', () => {
  it('that is called image.png keeps its name if it is not a picture that was just copied', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const old = new File(['picture'], 'image.png', { type: 'image/png', lastModified: 1_700_000_000_000 });
    send(element, 'paste', dataOf([{ kind: 'file', getAsFile: () => old }]));
    await until(() => element.snapshot.files.length === 1);
    const copied = new File(['picture'], 'image.png', { type: 'image/png' });
    send(element, 'paste', dataOf([{ kind: 'file', getAsFile: () => copied }]));
    await until(() => element.snapshot.files.length === 2);
    const [first, second] = element.snapshot.files.map(({ name }) => name);
    expect(first).to.equal('image.png');
    expect(second).to.match(/^image \d{4}-\d\d-\d\d /);
  });
});

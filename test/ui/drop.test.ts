// Dragged, dropped and pasted files and folders.

import { expect } from '@open-wc/testing';
import type { PickedFile } from '../../src/core/types.ts';
import { type DropContent, readDrop, withoutSystemFiles } from '../../src/ui/read-drop.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { dragEvent, nextEvent, one, shown, textFile, textOf, transferOf } from './support.ts';

describe('dropping and pasting', () => {
  it('adds files that are dropped on the element, and shows that while dragging', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const data = transferOf(textFile('dropped.txt'));
    expect(element.dispatchEvent(dragEvent('dragover', data))).to.equal(false);
    await element.updateComplete;
    expect(one(element, '[part~=drop-zone]').part.contains('dragging')).to.equal(true);
    expect(element.matches(':state(dragging)')).to.equal(true);
    expect(textOf(element)).to.contain('Drop to upload');
    const added = nextEvent(element, 'file-added');
    element.dispatchEvent(dragEvent('drop', data));
    expect((await added).detail).to.include({ name: 'dropped.txt', relativePath: 'dropped.txt' });
    await element.updateComplete;
    expect(element.matches(':state(dragging)')).to.equal(false);
  });

  it('keeps the browser from opening a file that is dropped beside it', async () => {
    await world({ element: true, service: 'reference' });
    const data = transferOf(textFile('stray.txt'));
    expect(document.body.dispatchEvent(dragEvent('dragover', data))).to.equal(false);
    expect(document.body.dispatchEvent(dragEvent('drop', data))).to.equal(false);
  });

  it('leaves a drop to a file input of the page, and ignores text', async () => {
    await world({ element: true, service: 'reference' });
    const input = document.createElement('input');
    input.type = 'file';
    document.body.append(input);
    expect(input.dispatchEvent(dragEvent('drop', transferOf(textFile('other.txt'))))).to.equal(true);
    input.remove();
    const text = new DataTransfer();
    text.setData('text/plain', 'words');
    expect(document.body.dispatchEvent(dragEvent('drop', text))).to.equal(true);
  });

  it('adds nothing while disabled', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    element.disabled = true;
    await element.updateComplete;
    element.dispatchEvent(dragEvent('drop', transferOf(textFile('late.txt'))));
    await element.updateComplete;
    expect(element.snapshot.files).to.have.length(0);
    expect(one<HTMLButtonElement>(element, '[data-action=browse]').disabled).to.equal(true);
  });

  it('does not invite files while the settings are invalid', async () => {
    const { element } = await world({ element: true, service: 'reference', baseUrl: 'ftp://files.test' });
    expect(textOf(element)).to.contain("aren't set up correctly");
    const title = one(element, '[part~=drop-zone]').textContent;
    expect(element.dispatchEvent(dragEvent('dragover', transferOf(textFile('a.txt'))))).to.equal(false);
    await element.updateComplete;
    expect(element.renderRoot.querySelectorAll('.dragging')).to.have.length(0);
    expect(one(element, '[part~=drop-zone]').textContent).to.equal(title);
    expect(element.matches(':state(dragging)')).to.equal(false);
  });

  it('adds files that are pasted anywhere but in a text field', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const paste = (target: EventTarget, name: string): void => {
      const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true });
      Object.defineProperty(event, 'clipboardData', { value: transferOf(textFile(name)) });
      target.dispatchEvent(event);
    };
    const field = document.createElement('textarea');
    document.body.append(field);
    paste(field, 'not-this.txt');
    field.remove();
    const added = nextEvent(element, 'file-added');
    paste(document.body, 'pasted.png');
    expect((await added).detail.name).to.equal('pasted.png');
    expect(element.snapshot.files).to.have.length(1);
  });
});

type Entry = { readonly name: string; readonly isFile: boolean; readonly isDirectory: boolean };

const fileEntry = (name: string): Entry & { file(done: (file: File) => void): void } => ({
  name,
  isFile: true,
  isDirectory: false,
  file: (done) => done(textFile(name)),
});

/** Returns a folder entry that lists its children as browsers do: at most 100 at a time, and an empty array at the end. */
const folderEntry = (name: string, children: Entry[]): Entry & { createReader(): unknown } => ({
  name,
  isFile: false,
  isDirectory: true,
  createReader: () => {
    let at = 0;
    return {
      readEntries: (done: (entries: Entry[]) => void) => {
        done(children.slice(at, at + 100));
        at += 100;
      },
    };
  },
});

const dropOf = (...items: object[]): DataTransfer =>
  ({
    items: items.map((item) => ({ kind: 'file', getAsFile: () => null, ...item })),
  }) as unknown as DataTransfer;

describe('reading dropped folders', () => {
  it('finds every file of a folder three levels deep with more than a hundred children, and counts empty folders', async () => {
    const many = Array.from({ length: 230 }, (_, index) => fileEntry(`${index}.txt`));
    const tree = folderEntry('top', [
      folderEntry('middle', [folderEntry('deep', many), folderEntry('nothing', [])]),
      fileEntry('beside.txt'),
    ]);
    const counts: number[] = [];
    const content = await readDrop(dropOf({ webkitGetAsEntry: () => tree }), (count) => counts.push(count));
    expect(content.files).to.have.length(231);
    expect(content.files[0]?.relativePath).to.equal('top/middle/deep/0.txt');
    expect(content.files.at(-1)?.relativePath).to.equal('top/beside.txt');
    expect(content.emptyFolderCount).to.equal(1);
    expect(counts.at(-1)).to.equal(231);
  });

  it('opens few files at once, because the browser hands over all that are ready in one task', async () => {
    let [openCount, mostCount] = [0, 0];
    const entry = (name: string): ReturnType<typeof fileEntry> => ({
      ...fileEntry(name),
      file: (done: (file: File) => void) => {
        mostCount = Math.max(mostCount, ++openCount);
        setTimeout(() => {
          openCount -= 1;
          done(textFile(name));
        });
      },
    });
    const tree = folderEntry(
      'top',
      Array.from({ length: 99 }, (_, index) => entry(`${index}.txt`)),
    );
    const { files } = await readDrop(dropOf({ webkitGetAsEntry: () => tree }), () => undefined);
    expect(files.map(({ relativePath }) => relativePath)).to.deep.equal(
      Array.from({ length: 99 }, (_, index) => `top/${index}.txt`),
    );
    expect(mostCount).to.equal(32);
  });

  it('continues after an unreadable entry, and names it', async () => {
    const broken = {
      ...fileEntry('broken.txt'),
      file: (_done: unknown, fail: (error: Error) => void) => fail(new Error('gone')),
    };
    const tree = folderEntry('top', [broken, fileEntry('good.txt')]);
    const content = await readDrop(dropOf({ webkitGetAsEntry: () => tree }), () => undefined);
    expect(content.files.map(({ relativePath, file }) => [relativePath, file?.name])).to.deep.equal([
      ['top/broken.txt', undefined],
      ['top/good.txt', 'good.txt'],
    ]);
  });

  const brokenFolder = (name: string, children: Entry[]) => {
    const batches = children.length > 0 ? [children] : [];
    return {
      ...folderEntry(name, children),
      createReader: () => ({
        readEntries: (done: (entries: Entry[]) => void, fail: (error: Error) => void) => {
          const batch = batches.shift();
          if (batch) done(batch);
          else fail(new Error('gone'));
        },
      }),
    };
  };
  const pathsOf = ({ files }: DropContent): unknown[] =>
    files.map(({ relativePath, file }) => [relativePath, file !== undefined]);

  it('takes what it has read of a folder that breaks off, and names the folder', async () => {
    const entries = brokenFolder('top', [fileEntry('a.txt'), brokenFolder('inner', [])]);
    const content = await readDrop(dropOf({ webkitGetAsEntry: () => entries }), () => undefined);
    expect(pathsOf(content)).to.deep.equal([
      ['top/a.txt', true],
      ['top/inner/', false],
      ['top/', false],
    ]);
  });

  it('has an answer for a drag that promises files and has none', async () => {
    for (const data of [dropOf(), dropOf({})])
      expect(pathsOf(await readDrop(data, () => undefined))).to.deep.equal([['?', false]]);
  });

  it('leaves out files of the system, unless no others were chosen', () => {
    const found = (...paths: string[]): unknown =>
      withoutSystemFiles({
        files: paths.map((relativePath) => ({ relativePath, file: textFile('x') })),
        emptyFolderCount: 0,
      });
    const folders = ['__MACOSX/a.pdf', '$RECYCLE.BIN/x', '.Trash-1000/files/a.pdf', '.Trashes/501/a.pdf'];
    const system = ['.DS_Store', '._a.pdf', 'Thumbs.db', 'ehthumbs.db', 'desktop.ini', ...folders];
    const paths = system.map((name) => `folder/${name}`);
    const named = (content: unknown): unknown => {
      const { files, emptyFolderCount } = content as DropContent;
      return [files.map(({ relativePath }) => relativePath), emptyFolderCount];
    };
    expect(named(found('folder/a.pdf', ...paths))).to.deep.equal([['folder/a.pdf'], 0]);
    expect(named(found(...system, 'a.pdf', '.env', 'Thumbs.db.txt'))).to.deep.equal([
      ['a.pdf', '.env', 'Thumbs.db.txt'],
      0,
    ]);
    expect(named(found(...paths))).to.deep.equal([[], 1]);
    expect(named(found('folder/.DS_Store'))).to.deep.equal([[], 1]);
    expect(named(found('desktop.ini'))).to.deep.equal([['desktop.ini'], 0]);
    expect(named(found('desktop.ini', 'Thumbs.db'))).to.deep.equal([['desktop.ini', 'Thumbs.db'], 0]);
    expect(named(found())).to.deep.equal([[], 0]);
  });

  it('keeps files of the system with include-hidden, and counts none of them otherwise', async () => {
    const names = ['.DS_Store', 'a.pdf', 'Thumbs.db', 'b.pdf'];
    const data = (): object => ({
      ...dropOf({ webkitGetAsEntry: () => folderEntry('top', names.map(fileEntry)) }),
      types: ['Files'],
    });
    for (const [includeHidden, count] of [
      [false, 2],
      [true, 4],
    ] as const) {
      const { element } = await world({ element: true, service: 'reference', manual: true, maxFiles: count });
      element.includeHidden = includeHidden;
      const event = new DragEvent('drop', { bubbles: true, cancelable: true });
      Object.defineProperty(event, 'dataTransfer', { value: data() });
      element.dispatchEvent(event);
      await until(() => element.snapshot.files.length === count);
      expect(element.snapshot.rejections).to.deep.equal([]);
    }
  });

  const keepsHandles = async (): Promise<void> => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle('holiday', { create: true });
    const inner = await folder.getDirectoryHandle('beach', { create: true });
    const handle = await inner.getFileHandle('sun.jpg', { create: true });
    await folder.getDirectoryHandle('empty', { create: true });
    const entry = folderEntry('holiday', [
      folderEntry('beach', [fileEntry('sun.jpg')]),
      folderEntry('empty', []),
    ]);
    const data = dropOf({ webkitGetAsEntry: () => entry, getAsFileSystemHandle: async () => folder });
    const content = await readDrop(data, () => undefined);
    expect(content.files.map(({ relativePath }) => relativePath)).to.deep.equal(['holiday/beach/sun.jpg']);
    expect(await (content.files[0] as PickedFile).handle?.isSameEntry(handle)).to.equal(true);
    expect(content.emptyFolderCount).to.equal(1);
    await root.removeEntry('holiday', { recursive: true });
  };
  // This test needs the origin private file system, which WebKitGTK does not have.
  if ((navigator.storage as StorageManager | undefined)?.getDirectory !== undefined)
    it('keeps the handle of each file if the browser provides handles', keepsHandles);

  it('shows what was skipped', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    const event = new DragEvent('drop', { bubbles: true, cancelable: true });
    const data = { ...dropOf({ webkitGetAsEntry: () => folderEntry('nothing', []) }), types: ['Files'] };
    Object.defineProperty(event, 'dataTransfer', { value: data });
    element.dispatchEvent(event);
    await shown(() => textOf(element).includes('1 empty folder was skipped.'));
  });
});

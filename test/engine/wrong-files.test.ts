// What a page passes instead of files by mistake: nothing is added, and the error names it.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { fileOf, freshFile } from '../support/bytes.ts';
import { rejection, until } from '../support/collect.ts';
import { createUnfinished, world } from '../support/world.ts';
import { all } from '../ui/support.ts';

const inputOfFiles = Object.assign(document.createElement('input'), { type: 'file' });
const formOfFiles = document.createElement('form');
formOfFiles.append(inputOfFiles);
const data = new DataTransfer();
data.items.add(fileOf(1, 10, 'in-list.txt'));

const MISTAKES: readonly (readonly [title: string, given: () => unknown, message: string])[] = [
  ['the file input', () => inputOfFiles, 'Not a file, but an HTMLInputElement. Pass input.files.'],
  ['a form', () => formOfFiles, 'Not a file, but an HTMLInputElement. Pass input.files.'],
  ['a list in a list', () => [data.files], 'Not a file, but a FileList. Pass it without a list around it.'],
  ['a transfer', () => data, 'Not a file, but a DataTransfer. Pass dataTransfer.files.'],
  ['an event', () => new Event('change'), 'Not a file, but an Event. Pass event.target.files.'],
  ['a drop', () => new DragEvent('drop'), 'Not a file, but a DragEvent. Pass event.dataTransfer.files.'],
  ['a Blob', () => new Blob(['x']), 'Not a file, but a Blob. Pass new File([blob], name).'],
  ['a promise', () => Promise.resolve([]), 'Not a file, but a Promise. Await it.'],
  [
    'an object of another library',
    () => [{ name: 'a.pdf', data: new Blob(['x']) }],
    'Not a file, but an Object. Pass a File, or { file, relativePath }.',
  ],
  [
    'a file without a path',
    () => ({ file: fileOf(1, 10) }),
    'Not a file, but an Object. Pass a File, or { file, relativePath }.',
  ],
  [
    'a path with a Blob',
    () => ({ file: new Blob(['x']), relativePath: 'a.txt' }),
    'Not a file, but an Object. Pass a File, or { file, relativePath }.',
  ],
  ['a path', () => 'a.pdf', 'Not a file, but a string.'],
  ['an empty text', () => '', 'Not a file, but a string.'],
  ['null', () => null, 'Not a file, but null.'],
  ['nothing', () => undefined, 'Not a file, but undefined.'],
  ['a list with a hole', () => [fileOf(2, 10), undefined], 'Not a file, but undefined.'],
  [
    'a type with a secret',
    () => ({ [Symbol.toStringTag]: 'the token abc' }),
    'Not a file, but an Object. Pass a File, or { file, relativePath }.',
  ],
];

describe('addFiles() with something else', () => {
  for (const [title, given, message] of MISTAKES)
    it(`adds nothing, and names it: ${title}`, async () => {
      const { uploader } = world({ manual: true, multiple: true });
      const error = await rejection<UploaderError>(uploader.addFiles(given() as never));
      expect([error.code, error.message]).to.deep.equal(['bad-config', message]);
      const { files, rejections } = uploader.snapshot;
      expect([files, rejections]).to.deep.equal([[], []]);
    });

  it('is refused with the good files beside it, which can be added alone, and are shown', async () => {
    const { element } = await world({ element: true, manual: true, multiple: true });
    for (const [title, given] of MISTAKES)
      expect(await rejection(element.addFiles(given() as never)), title).to.include({ code: 'bad-config' });
    expect(element.snapshot.files).to.deep.equal([]);
    await element.addFiles([freshFile(10, 'good.txt')]);
    await until(() => all(element, '.row').length === 1);
  });

  it('takes files of another document, and what could not be read', async () => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const { File: OtherFile } = frame.contentWindow as unknown as typeof globalThis;
    const { uploader } = world({ manual: true, multiple: true });
    await uploader.addFiles([new OtherFile(['x'], 'other.txt'), { relativePath: 'lost/' }]);
    frame.remove();
    const { files, rejections } = uploader.snapshot;
    expect([files.map(({ name }) => name), rejections.map(({ name }) => name)]).to.deep.equal([
      ['other.txt'],
      ['lost'],
    ]);
  });
});

describe('provide() with something else', () => {
  it('names it, and the upload still waits for its file', async () => {
    const file = fileOf(1, 2500, 'a.bin');
    const { uploader } = world({ store: await createUnfinished(file), manual: true });
    await until(() => uploader.snapshot.files[0]?.pauseReason === 'needs-file');
    const [waiting] = uploader.snapshot.files;
    const error = await rejection<UploaderError>(
      uploader.provide(waiting?.id as never, inputOfFiles as never),
    );
    expect(error.message).to.equal('Not a file, but an HTMLInputElement. Pass input.files.');
    expect(uploader.snapshot.files[0]?.pauseReason).to.equal('needs-file');
    expect(uploader.snapshot.rejections).to.deep.equal([]);
  });
});

// Resuming uploads that need their files again: the pickers that open, and what the uploads get. Tests replace the browser's
// picker.

import { expect } from '@open-wc/testing';
import type { PickedFile } from '../../src/core/types.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { resume, resumeFolder } from '../../src/ui/resume.ts';
import { bytesOf } from '../support/bytes.ts';
import { textFile } from './support.ts';

const globals = globalThis as { showOpenFilePicker?: (() => Promise<readonly object[]>) | undefined };
const own = Object.getOwnPropertyDescriptor(globalThis, 'showOpenFilePicker');

afterEach(() => {
  if (own) Object.defineProperty(globalThis, 'showOpenFilePicker', own);
  else Reflect.deleteProperty(globalThis, 'showOpenFilePicker');
});

const handleOf = (name: string): object => ({
  name,
  getFile: async () => new File([bytesOf(1, 100)], name),
});

describe('resuming a file of an earlier visit', () => {
  const uploaderThat = (isKnown: boolean): { given: unknown[]; uploader: Uploader } => {
    const given: unknown[] = [];
    const files = [
      { id: 'a', pauseReason: 'needs-file' },
      { id: 'b', pauseReason: 'user' },
    ];
    const uploader = {
      snapshot: { files },
      resume: async (id?: string) => given.push(['resume', id]),
      provide: async (id: string, file?: PickedFile) => {
        given.push(['provide', id, file?.relativePath]);
        return isKnown;
      },
    };
    return { given, uploader: uploader as unknown as Uploader };
  };

  for (const [title, id, isKnown, handles, expected] of [
    ["uses the browser's picker first, if it exists", 'a', true, ['a.pdf'], [['provide', 'a', undefined]]],
    [
      'shows the picker then',
      'a',
      false,
      ['a.pdf'],
      [
        ['provide', 'a', undefined],
        ['provide', 'a', 'a.pdf'],
      ],
    ],
    ['stops if the user chose no file', 'a', false, [], [['provide', 'a', undefined]]],
    ['shows no picker if the file is there', 'b', false, ['a.pdf'], [['resume', 'b']]],
    ['shows no picker if all are resumed', undefined, false, ['a.pdf'], [['resume', undefined]]],
  ] as const)
    it(title, async () => {
      globals.showOpenFilePicker = async () => handles.map(handleOf);
      const { given, uploader } = uploaderThat(isKnown);
      await resume(uploader, document.body, id);
      expect(given).to.deep.equal(expected);
    });

  for (const [title, chosen, expected] of [
    [
      'gives its files to the uploads of a folder, and adds no others, which may be done',
      ['scans/1.tif', 'scans/2.tif', 'scans/3.tif', 'scans/new.tif'],
      [['add', '1.tif', '3.tif']],
    ],
    ['says that it is the wrong folder', ['other/1.tif'], [['provide', 'one', '1.tif']]],
    ['does nothing if the user chose no folder', [], []],
  ] as const)
    it(title, async () => {
      const { click } = HTMLInputElement.prototype;
      globals.showOpenFilePicker = async () => [handleOf('not-asked.tif')];
      HTMLInputElement.prototype.click = function answer(this: HTMLInputElement) {
        expect(this.webkitdirectory).to.equal(true);
        const files = chosen.map((path) =>
          Object.defineProperty(textFile(path.replace(/.*\//, '')), 'webkitRelativePath', { value: path }),
        );
        Object.defineProperty(this, 'files', { value: files });
        this.dispatchEvent(new Event('change'));
      };
      const given: unknown[] = [];
      const uploader = {
        snapshot: {
          files: [
            { id: 'one', relativePath: 'scans/1.tif', pauseReason: 'needs-file' },
            { id: 'two', relativePath: 'scans/2.tif' },
            { id: 'three', relativePath: 'scans/3.tif', pauseReason: 'needs-file' },
            { id: 'four', relativePath: 'other/1.tif', pauseReason: 'needs-file' },
          ],
        },
        provide: async (id: string, { name }: File) => given.push(['provide', id, name]),
        addFiles: async (files: readonly File[]) => given.push(['add', ...files.map(({ name }) => name)]),
      };
      try {
        await resumeFolder(uploader as unknown as Uploader, document.body, 'scans/');
      } finally {
        HTMLInputElement.prototype.click = click;
      }
      expect(given).to.deep.equal(expected);
    });
});

// The button that picks files, with and without file handles. Tests replace the browser's picker, which scripts can't operate.

import { expect } from '@open-wc/testing';
import type { PickedFile } from '../../src/core/types.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { pickFile, pickHandles } from '../../src/ui/pick-file.ts';
import { resume } from '../../src/ui/resume.ts';
import { bytesOf } from '../support/bytes.ts';
import { rejection, until } from '../support/collect.ts';
import { button, createElement, one, textFile, transferOf } from './support.ts';

type Picker = (options: object) => Promise<readonly object[]>;
const globals = globalThis as { showOpenFilePicker?: Picker | undefined };
const own = Object.getOwnPropertyDescriptor(globalThis, 'showOpenFilePicker');

afterEach(() => {
  if (own) Object.defineProperty(globalThis, 'showOpenFilePicker', own);
  else Reflect.deleteProperty(globalThis, 'showOpenFilePicker');
});

const handleOf = (name: string): object => ({
  name,
  getFile: async () => new File([bytesOf(1, 100)], name),
});

/** Creates an element whose button opens the picker `pick`. `asked.inputs` counts how often an input was used instead. */
async function elementWith(pick: Picker, settings = {}) {
  globals.showOpenFilePicker = pick;
  const element = await createElement({ manual: true, ...settings });
  const asked = { inputs: 0 };
  one(element, '#files').addEventListener('click', (event) => {
    event.preventDefault();
    asked.inputs += 1;
  });
  return { element, asked };
}

describe('choosing files by the button', () => {
  it('adds them with their handles, if the browser provides any', async () => {
    let options: object | undefined;
    const { element, asked } = await elementWith(
      async (given) => {
        options = given;
        return [handleOf('a.pdf'), handleOf('b.pdf')];
      },
      { accept: 'image/*, .pdf' },
    );
    const offered: unknown[] = [];
    element.addEventListener('file-add', ({ detail }) => offered.push(detail.name));
    button(element, 'Choose files').click();
    await until(() => offered.length === 2);
    expect(offered).to.deep.equal(['a.pdf', 'b.pdf']);
    expect(options).to.deep.equal({
      multiple: true,
      types: [{ accept: { 'image/*': [], 'application/octet-stream': ['.pdf'] } }],
    });
    expect(asked.inputs).to.equal(0);
  });

  it('adds nothing if the user chose nothing', async () => {
    const { element, asked } = await elementWith(async () => {
      throw new DOMException('The user aborted a request.', 'AbortError');
    });
    await element.browse();
    expect(element.snapshot.files).to.deep.equal([]);
    expect(asked.inputs).to.equal(0);
  });

  it('rejects with the error that keeps the files from being added', async () => {
    const { error } = console;
    console.error = () => undefined;
    try {
      const { element } = await elementWith(async () => [handleOf('a.pdf')], { baseUrl: undefined });
      expect(await rejection(element.browse())).to.include({ code: 'bad-config' });
    } finally {
      console.error = error;
    }
  });

  it('uses an input if the page may not show that picker', async () => {
    const { element, asked } = await elementWith(async () => {
      throw new DOMException('Cross origin sub frames cannot show a file picker.', 'SecurityError');
    });
    await element.browse();
    expect(asked.inputs).to.equal(1);
  });

  it('uses an input for folders, and if resuming is off', async () => {
    const picker = async (): Promise<never> => {
      throw new Error('asked');
    };
    const { element, asked } = await elementWith(picker, { noResume: true });
    await element.browse();
    expect(asked.inputs).to.equal(1);
    element.noResume = false;
    const folder = one(element, '#folder');
    folder.addEventListener('click', (event) => {
      event.preventDefault();
      asked.inputs += 1;
    });
    await element.browse('folder');
    expect(asked.inputs).to.equal(2);
  });

  it('uses options that the browser accepts', async () => {
    if (!own) return;
    let options = {};
    const { element } = await elementWith(
      async (given) => {
        options = given;
        return [];
      },
      { accept: 'image/*, .pdf, text/plain,.tar.gz' },
    );
    await element.browse();
    const real = own.value as Picker;
    // The browser's picker checks its options before it checks for a click. A `SecurityError` means that the options are valid.
    const refused = await rejection<DOMException>(real.call(globalThis, options));
    expect(refused.name).to.equal('SecurityError');
    expect(
      (await rejection<Error>(real.call(globalThis, { types: [{ accept: { wrong: [] } }] }))).name,
    ).to.equal('TypeError');
  });
});

describe('picking with handles', () => {
  const picked = async (pick: Picker | undefined, options = {}): Promise<unknown> => {
    globals.showOpenFilePicker = pick;
    return pickHandles(options);
  };

  it('returns each file with its name and its handle', async () => {
    const handle = handleOf('a.pdf');
    const [first] = (await picked(async () => [handle])) as PickedFile[];
    expect([first?.file.name, first?.relativePath, first?.handle]).to.deep.equal(['a.pdf', 'a.pdf', handle]);
  });

  it('returns nothing if the browser has no such picker, or a file can no longer be read', async () => {
    const broken = {
      name: 'a',
      getFile: async () => Promise.reject(new DOMException('gone', 'NotFoundError')),
    };
    expect(await picked(undefined)).to.equal(undefined);
    expect(await picked(async () => [broken])).to.equal(undefined);
    expect(await picked(async () => Promise.reject(new Error('AbortError')))).to.equal(undefined);
  });

  for (const [accept, types] of [
    [undefined, []],
    ['', []],
    ['pdf', []],
    ['image/*', [{ accept: { 'image/*': [] } }]],
    ['.pdf, .txt', [{ accept: { 'application/octet-stream': ['.pdf', '.txt'] } }]],
    ['text/plain , .pdf', [{ accept: { 'text/plain': [], 'application/octet-stream': ['.pdf'] } }]],
  ] as const)
    it(`accepts ${accept || 'any file'}`, async () => {
      let asked: unknown;
      await picked(
        async (options) => {
          asked = options;
          return [];
        },
        { accept },
      );
      expect(asked).to.deep.equal({ multiple: false, types });
    });
});

describe('picking one file', () => {
  const { click } = HTMLInputElement.prototype;
  afterEach(() => {
    HTMLInputElement.prototype.click = click;
  });

  it('returns the first of those with handles, or none', async () => {
    globals.showOpenFilePicker = async () => [handleOf('a.pdf')];
    expect(((await pickFile()) as PickedFile).relativePath).to.equal('a.pdf');
    globals.showOpenFilePicker = async () => [];
    expect(await pickFile()).to.equal(undefined);
  });

  for (const [title, files, event, name] of [
    ['returns what an input returns elsewhere', [textFile('b.txt')], 'change', 'b.txt'],
    ['returns nothing if the user closes the input', [], 'cancel', undefined],
  ] as const)
    it(title, async () => {
      globals.showOpenFilePicker = undefined;
      HTMLInputElement.prototype.click = function answer(this: HTMLInputElement) {
        expect(this.type).to.equal('file');
        this.files = transferOf(...files).files;
        this.dispatchEvent(new Event(event));
      };
      expect(((await pickFile()) as File | undefined)?.name).to.equal(name);
    });
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
      await resume(uploader, id);
      expect(given).to.deep.equal(expected);
    });
});

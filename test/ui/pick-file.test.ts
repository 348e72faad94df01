// The button that picks files, with and without file handles. Tests replace the browser's picker, which scripts can't operate.

import { expect } from '@open-wc/testing';
import type { PickedFile } from '../../src/core/types.ts';
import { pickAgain, pickHandles } from '../../src/ui/pick-file.ts';
import { bytesOf } from '../support/bytes.ts';
import { rejection, until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { button, one, textFile, textOf, transferOf } from './support.ts';

type Picker = (options: object) => Promise<readonly object[]>;
const { userActivation } = navigator;
/** Scripts of a test are not started by the user. */
const activate = (isActive = true): void =>
  void Object.defineProperty(navigator, 'userActivation', { value: { isActive }, configurable: true });
const globals = globalThis as { showOpenFilePicker?: Picker | undefined };
const own = Object.getOwnPropertyDescriptor(globalThis, 'showOpenFilePicker');

afterEach(() => {
  if (own) Object.defineProperty(globalThis, 'showOpenFilePicker', own);
  else Reflect.deleteProperty(globalThis, 'showOpenFilePicker');
  Reflect.deleteProperty(navigator, 'userActivation');
  expect(navigator.userActivation).to.equal(userActivation);
});

const handleOf = (name: string): object => ({
  name,
  getFile: async () => new File([bytesOf(1, 100)], name),
});

/** Creates an element whose button opens the picker `pick`. `asked.inputs` counts how often an input was used instead. */
async function elementWith(pick: Picker, settings = {}) {
  globals.showOpenFilePicker = pick;
  const { element } = await world({ element: true, service: 'reference', manual: true, ...settings });
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

  it('opens the camera with `capture`, which only an input can', async () => {
    const { element, asked } = await elementWith(async () => [handleOf('a.pdf')], { directory: true });
    const inputs = ['#files', '#folder'].map((id) => one<HTMLInputElement>(element, id));
    inputs[1]?.addEventListener('click', (event) => event.preventDefault());
    for (const [capture, expected] of [
      ['user', 'user'],
      ['', 'environment'],
    ] as const) {
      element.setAttribute('capture', capture);
      await element.browse();
      await element.browse('folder');
      expect(inputs.map((input) => input.getAttribute('capture'))).to.deep.equal([expected, null]);
    }
    expect([asked.inputs, element.snapshot.files]).to.deep.equal([2, []]);
    globals.showOpenFilePicker = undefined;
    for (const off of [
      () => element.removeAttribute('capture'),
      () => Object.assign(element, { capture: '' }),
      () => Object.assign(element, { capture: null }),
    ]) {
      element.setAttribute('capture', 'user');
      off();
      await element.browse();
      expect(inputs[0]?.hasAttribute('capture')).to.equal(false);
    }
    expect(asked.inputs).to.equal(5);
  });

  it('adds those that can be read, and names the others', async () => {
    const broken = {
      name: 'gone.pdf',
      getFile: async () => Promise.reject(new DOMException('gone', 'NotFoundError')),
    };
    const { element, asked } = await elementWith(async () => [handleOf('a.pdf'), broken, handleOf('b.pdf')]);
    await element.browse();
    const { files, rejections } = element.snapshot;
    expect(files.map(({ name }) => name)).to.deep.equal(['a.pdf', 'b.pdf']);
    expect(rejections.map(({ name, code }) => [name, code])).to.deep.equal([['gone.pdf', 'file-unreadable']]);
    expect(asked.inputs).to.equal(0);
  });

  it('offers no folders where the browser has none', async () => {
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'webkitdirectory');
    if (!own) return;
    Reflect.deleteProperty(HTMLInputElement.prototype, 'webkitdirectory');
    try {
      const { element } = await world({ element: true, service: 'reference', directory: true });
      expect(element.renderRoot.querySelector('[data-action=folder]')).to.equal(null);
    } finally {
      Object.defineProperty(HTMLInputElement.prototype, 'webkitdirectory', own);
    }
  });

  it('shows that the browser collects the files of a folder', async () => {
    const { element } = await world({ element: true, service: 'reference', directory: true });
    const input = one<HTMLInputElement>(element, '#folder');
    input.addEventListener('click', (event) => event.preventDefault());
    activate();
    await element.browse('folder');
    globalThis.dispatchEvent(new Event('focus'));
    await element.updateComplete;
    expect(textOf(element)).to.contain('Reading files… 0 files found');
    input.dispatchEvent(new Event('cancel'));
    await element.updateComplete;
    expect(textOf(element)).not.to.contain('Reading files');
    globalThis.dispatchEvent(new Event('focus'));
    await element.updateComplete;
    expect(textOf(element)).not.to.contain('Reading files');
  });

  it('shows nothing if no picker opened, because the user did not click', async () => {
    const { element } = await world({ element: true, service: 'reference', directory: true });
    activate(false);
    await element.browse('folder');
    globalThis.dispatchEvent(new Event('focus'));
    await element.updateComplete;
    expect(textOf(element)).not.to.contain('Reading files');
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

  it('returns the handles, and nothing if the browser has no such picker', async () => {
    const handles = [handleOf('a.pdf')];
    expect(await picked(async () => handles)).to.equal(handles);
    expect(await picked(undefined)).to.equal(undefined);
  });

  for (const [name, message, isAvailable] of [
    ['AbortError', 'The user aborted a request.', true],
    ['NotAllowedError', 'File picker already active.', true],
    ['NotReadableError', 'The file could not be read.', true],
    ['NotAllowedError', 'The request is not allowed by the user agent or the platform.', false],
    ['SecurityError', 'Cross origin sub frames cannot show a file picker.', false],
  ] as const)
    it(`${isAvailable ? 'picks nothing' : 'has no picker'} after ${name}: ${message}`, async () => {
      const failing = async (): Promise<never> => Promise.reject(new DOMException(message, name));
      expect(await picked(failing)).to.deep.equal(isAvailable ? [] : undefined);
    });

  it('has no picker if the browser does not take the types', async () => {
    expect(await picked(async () => Promise.reject(new TypeError('Invalid type')))).to.equal(undefined);
  });

  it('opens one picker at a time, and the next one after it has closed', async () => {
    let close = (_handles: readonly object[]): void => undefined;
    let openedCount = 0;
    let isOpen = false;
    const picker: Picker = async () => {
      if (isOpen) throw new DOMException('File picker already active.', 'NotAllowedError');
      isOpen = true;
      openedCount += 1;
      const handles = await new Promise<readonly object[]>((resolve) => {
        close = resolve;
      });
      isOpen = false;
      return handles;
    };
    const first = picked(picker);
    expect(await picked(picker)).to.deep.equal([]);
    close([handleOf('a.pdf')]);
    expect(await first).to.have.length(1);
    const second = picked(picker);
    close([]);
    await second;
    expect(openedCount).to.equal(2);
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

  it('returns those with handles, or none', async () => {
    globals.showOpenFilePicker = async () => [handleOf('a.pdf')];
    expect(((await pickAgain(document.body))[0] as PickedFile).relativePath).to.equal('a.pdf');
    globals.showOpenFilePicker = async () => [];
    expect(await pickAgain(document.body)).to.deep.equal([]);
  });

  for (const [title, files, event, name] of [
    ['returns what an input returns elsewhere', [textFile('b.txt')], 'change', 'b.txt'],
    ['returns nothing if the user closes the input', [], 'cancel', undefined],
  ] as const)
    it(title, async () => {
      globals.showOpenFilePicker = undefined;
      HTMLInputElement.prototype.click = function answer(this: HTMLInputElement) {
        expect([this.type, this.isConnected]).to.deep.equal(['file', true]);
        this.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }));
        this.files = transferOf(...files).files;
        this.dispatchEvent(new Event(event));
      };
      let clickCount = 0;
      const onClick = (): void => {
        clickCount += 1;
      };
      addEventListener('click', onClick);
      expect(((await pickAgain(document.body))[0] as File | undefined)?.name).to.equal(name);
      removeEventListener('click', onClick);
      expect(document.querySelector('body > input')).to.equal(null);
      expect(clickCount, 'the page sees no click').to.equal(0);
    });
});

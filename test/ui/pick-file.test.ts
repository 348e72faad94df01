// Picking files by the button: with handles where the browser gives them, else by an input. No test can answer the browser's own
// picker, so what it would give is put in its place.

import { expect } from '@open-wc/testing';
import { bytesOf } from '../support/bytes.ts';
import { rejection } from '../support/collect.ts';
import { button, createElement, nextEvent, one } from './support.ts';

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

/** An element whose button asks `pick`; `inputs` counts how often its input was asked instead. */
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
  it('takes them with their handles, where the browser gives any', async () => {
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
    const added = nextEvent(element, 'file-added');
    button(element, 'Choose files').click();
    await added;
    expect(offered).to.deep.equal(['a.pdf', 'b.pdf']);
    expect(options).to.deep.equal({
      multiple: true,
      types: [{ accept: { 'image/*': [], 'application/octet-stream': ['.pdf'] } }],
    });
    expect(asked.inputs).to.equal(0);
  });

  it('takes nothing where the person chose nothing', async () => {
    const { element, asked } = await elementWith(async () => {
      throw new DOMException('The user aborted a request.', 'AbortError');
    });
    await element.browse();
    expect(element.snapshot.files).to.deep.equal([]);
    expect(asked.inputs).to.equal(0);
  });

  it('asks with an input where the page may not show that picker', async () => {
    const { element, asked } = await elementWith(async () => {
      throw new DOMException('Cross origin sub frames cannot show a file picker.', 'SecurityError');
    });
    await element.browse();
    expect(asked.inputs).to.equal(1);
  });

  it('asks with an input for folders, and where nothing is to be resumed', async () => {
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

  it('asks the browser in a form that it takes', async () => {
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
    // It reads what it is asked for before it looks for a click.
    const refused = await rejection<DOMException>(real.call(globalThis, options));
    expect(refused.name).to.equal('SecurityError');
    expect(
      (await rejection<Error>(real.call(globalThis, { types: [{ accept: { wrong: [] } }] }))).name,
    ).to.equal('TypeError');
  });
});

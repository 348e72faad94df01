// Files that the picker gives badly, late, or with files of the system. test/e2e/cases-picking.test.ts has real keys and choosers.

import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import type { SecureUploader } from '../../src/define.ts';
import { uniqueName } from '../service/reference.ts';
import { bytesOf } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { all, nextEvent, one, shown, textFile, transferOf } from './support.ts';

type Picker = () => Promise<readonly object[]>;
const globals = globalThis as { showOpenFilePicker?: Picker };
const own = Object.getOwnPropertyDescriptor(globalThis, 'showOpenFilePicker');
const { click } = HTMLInputElement.prototype;
let inputCount = 0;

beforeEach(() => {
  inputCount = 0;
  HTMLInputElement.prototype.click = () => {
    inputCount += 1;
  };
});

afterEach(() => {
  HTMLInputElement.prototype.click = click;
  if (own) Object.defineProperty(globalThis, 'showOpenFilePicker', own);
  else Reflect.deleteProperty(globalThis, 'showOpenFilePicker');
});

const handleOf = (file: File, getFile: () => unknown = async () => file): object => ({
  kind: 'file',
  name: file.name,
  getFile,
});

const fail = (name: string): never => {
  throw new DOMException('of the browser', name);
};

const rejected = ({ snapshot }: SecureUploader): unknown[] =>
  snapshot.rejections.map(({ name, code }) => [name, code]);

describe('the button of a row that needs its file', () => {
  it('names a file that cannot be read, also by key, and takes the file the next time', async () => {
    const settings = { owner: crypto.randomUUID(), chunkSize: 65_536, concurrency: 1, chunkEvents: true };
    const file = new File([bytesOf(7, 12 * 65_536)], uniqueName(), { lastModified: 1_700_000_000_000 });
    const { element: first } = await world({ element: true, service: 'reference', ...settings });
    const stored = nextEvent(first, 'chunk-uploaded');
    await first.addFiles(file);
    await stored;
    first.remove();
    const { element } = await world({ element: true, service: 'reference', ...settings });
    const again = await shown(() => element.renderRoot.querySelector<HTMLElement>('[part~=choose-button]'));
    const answers: Picker[] = [
      async () => fail('NotReadableError'),
      async () => [handleOf(file, () => fail('NotFoundError'))],
      async () => [handleOf(file)],
    ];
    let askedCount = 0;
    globals.showOpenFilePicker = () => (answers[askedCount++] as Picker)();
    again.focus();
    await sendKeys({ press: 'Enter' });
    await until(() => askedCount === 1);
    await sendKeys({ press: 'Enter' });
    await until(() => element.snapshot.rejections.length > 0);
    expect(rejected(element)).to.deep.equal([[file.name, 'file-unreadable']]);
    expect(element.snapshot.files[0]?.pauseReason).to.equal('needs-file');
    expect(askedCount).to.equal(2);
    const completed = nextEvent(element, 'upload-completed');
    await sendKeys({ press: 'Enter' });
    expect((await completed).detail.name).to.equal(file.name);
    expect([askedCount, inputCount]).to.deep.equal([3, 0]);
  });
});

describe('files of the picker', () => {
  it('whose handles fail at once or give nothing are each named, and the others are added', async () => {
    const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((name) => textFile(name));
    const [a, b, c, d] = files as [File, File, File, File];
    globals.showOpenFilePicker = async () => [
      handleOf(a, () => fail('NotAllowedError')),
      handleOf(b),
      handleOf(c, async () => undefined),
      handleOf(d),
    ];
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await element.browse();
    expect(rejected(element)).to.deep.equal([
      ['a.txt', 'file-unreadable'],
      ['c.txt', 'file-unreadable'],
    ]);
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['b.txt', 'd.txt']);
    const panel = await shown(() => element.renderRoot.querySelector('[part=rejections]'));
    expect(panel.textContent).to.contain('a.txt').and.to.contain('c.txt');
    expect(inputCount).to.equal(0);
  });

  it('show a sign of life while one of them comes from the cloud', async () => {
    let arrive = (_file: File): void => undefined;
    const file = textFile('in the cloud.txt');
    const coming = new Promise<File>((resolve) => {
      arrive = resolve;
    });
    globals.showOpenFilePicker = async () => [handleOf(file, () => coming)];
    const { element } = await world({ element: true, service: 'reference', manual: true });
    one(element, '[data-action=browse]').focus();
    await sendKeys({ press: ' ' });
    const notice = await shown(() => one(element, '.base').querySelector('[part=notice]'));
    expect(notice.textContent).to.contain('0 files found');
    arrive(file);
    await shown(() => element.snapshot.files.length === 1 && all(element, '[part=notice]').length === 0);
  });

  it('of the system take no place beside others, in both pickers, and are kept alone', async () => {
    const named = (...names: string[]): File[] => names.map((name) => textFile(name));
    const mixed = named('Thumbs.db', '._a.txt', 'a.txt', 'b.txt', '.DS_Store');
    const namesOf = (element: SecureUploader): string[] => element.snapshot.files.map(({ name }) => name);
    globals.showOpenFilePicker = async () => mixed.map((file) => handleOf(file));
    const { element } = await world({ element: true, service: 'reference', manual: true, maxFiles: 2 });
    await element.browse();
    expect([namesOf(element), rejected(element)]).to.deep.equal([['a.txt', 'b.txt'], []]);
    const { element: other } = await world({
      element: true,
      service: 'reference',
      manual: true,
      maxFiles: 2,
    });
    const give = (...files: File[]): void => {
      const input = one<HTMLInputElement>(other, '#files');
      input.files = transferOf(...files).files;
      input.dispatchEvent(new Event('change'));
    };
    give(...mixed);
    await shown(() => namesOf(other).length === 2);
    expect([namesOf(other), rejected(other)]).to.deep.equal([['a.txt', 'b.txt'], []]);
    other.maxFiles = 9;
    give(...named('desktop.ini'));
    await shown(() => namesOf(other).includes('desktop.ini'));
  });
});

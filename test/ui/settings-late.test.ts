// Settings that cannot be read: frameworks render empty templates first, so the element says nothing before the first file, and
// adds no file then.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import type { UploaderError } from '../../src/core/errors.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { code } from '../../src/ui/uploads-controller.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { replace, world } from '../support/world.ts';
import { all, pick, shown, textFile } from './support.ts';

/** Logs what the element writes to the console as errors, until the end of the test. */
function watchErrors(): string[] {
  const errors: string[] = [];
  replace(console, 'error', (...args: unknown[]) => errors.push(args.join(' ')));
  return errors;
}

const isShown = (element: SecureUploader): boolean => all(element, '[part=error]').length > 0;
const codeOf = async (call: Promise<unknown>): Promise<string> => (await rejection<UploaderError>(call)).code;

/** Sets properties, and waits for the rendering. */
async function set(element: SecureUploader, properties: object): Promise<void> {
  Object.assign(element, properties);
  await element.updateComplete;
}

/** Opens an element with these properties, which it has not been given a file or a command. */
async function open(properties: object): Promise<SecureUploader> {
  const { element } = await world({ element: true, manual: true, baseUrl: undefined });
  await set(element, { baseUrl: `https://${crypto.randomUUID()}.test`, ...properties });
  return element;
}

const BLANK: readonly (readonly [object, object])[] = [
  [{ maxFileSize: '' }, { maxFileSize: '5MB' }],
  [{ maxFiles: '' }, { maxFiles: 3 }],
  [{ auth: '' }, { auth: 'none' }],
  [{ issuer: '' }, { issuer: 'https://id.example' }],
  [{ uploadOrigins: '' }, { uploadOrigins: 'https://files.example' }],
  [{ logoutPath: ' ' }, { logoutPath: '/logout' }],
  [{ authOptions: { ownerField: '' } }, { authOptions: { ownerField: 'sub' } }],
  [{ baseUrl: '' }, { baseUrl: 'https://files.example' }],
];

describe('a setting that a template has not filled in', () => {
  for (const [blank, filled] of BLANK)
    it(`is no error until the first file: ${JSON.stringify(blank)}`, async () => {
      const errors = watchErrors();
      const element = await open(blank);
      await settled();
      expect([isShown(element), errors]).to.deep.equal([false, []]);
      await set(element, filled);
      await element.addFiles(textFile('a.txt'));
      expect([isShown(element), errors]).to.deep.equal([false, []]);
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt']);
    });

  it('is an error with the first file of the page or the user, until it can be read', async () => {
    for (const add of ['page', 'user']) {
      const errors = watchErrors();
      const element = await open({ maxFileSize: '' });
      if (add === 'page') expect(await codeOf(element.addFiles(textFile('a.txt')))).to.equal('bad-config');
      else pick(element, textFile('a.txt'));
      await shown(() => isShown(element));
      expect(errors, add).to.deep.equal(['<secure-uploader>: max-file-size="" is empty']);
      expect(await codeOf(element.addFiles(textFile('b.txt')))).to.equal('bad-config');
      await set(element, { parentId: 'folder-b' });
      expect([isShown(element), errors.length], add).to.deep.equal([true, 1]);
      await set(element, { maxFileSize: '5MB' });
      expect(isShown(element)).to.equal(false);
      await element.addFiles(textFile('c.txt'));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['c.txt']);
    }
  });

  it('is an error at once if it is not empty, so that no user chooses files in vain', async () => {
    const errors = watchErrors();
    const element = await open({ auth: 'tokn' });
    expect(isShown(element)).to.equal(true);
    expect(errors).to.have.length(1);
    expect(await codeOf(element.addFiles(textFile('a.txt')))).to.equal('bad-config');
    expect(element.snapshot.files).to.deep.equal([]);
  });
});

describe('a misspelled attribute', () => {
  for (const [name, value, meant, property, right] of [
    ['upload-origin', 'https://files.example', 'upload-origins', 'uploadOrigins', 'https://files.example'],
    ['striplocation', 'true', 'strip-location', 'stripLocation', true],
    ['max-filesize', '1MB', 'max-file-size', 'maxFileSize', '1MB'],
    ['no-resumption', '', 'no-resume', 'noResume', true],
    ['transform-file', 'redact', 'the property transformFile', 'transformFile', (file: File) => file],
  ] as const)
    it(`of a setting that protects lets no file in, until the setting is set: ${name}`, async () => {
      const errors = watchErrors();
      replace(console, 'warn', () => undefined);
      const { element } = await world({ element: true, manual: true });
      element.setAttribute(name, value);
      // Browsers do not tell elements of attributes that they do not have.
      await set(element, { parentId: 'folder-b' });
      expect(isShown(element)).to.equal(true);
      expect(errors).to.deep.equal([
        `<secure-uploader>: The attribute ${name} does not exist. Did you mean ${meant}?`,
      ]);
      expect(await codeOf(element.addFiles(textFile('a.txt')))).to.equal('bad-config');
      await set(element, { [property]: right });
      await element.addFiles(textFile('b.txt'));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['b.txt']);
    });

  for (const name of ['chunksize', 'parent-idd', 'data-upload-origins', 'labels'])
    it(`of another setting, or of the page, lets files in: ${name}`, async () => {
      replace(console, 'warn', () => undefined);
      const { element } = await world({ element: true, manual: true });
      element.setAttribute(name, '1');
      await set(element, { owner: 'ann' });
      await element.addFiles(textFile('a.txt'));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt']);
    });
});

describe('a setting that becomes unreadable', () => {
  for (const maxFileSize of ['', '5OOMB'])
    it(`lets no file in with the settings of before: max-file-size="${maxFileSize}"`, async () => {
      watchErrors();
      const { element } = await world({ element: true, manual: true, maxFileSize: '1kB' });
      await element.addFiles(textFile('a.txt'));
      await set(element, { maxFileSize });
      expect(isShown(element)).to.equal(maxFileSize !== '');
      expect(await codeOf(element.addFiles(textFile('b.txt')))).to.equal('bad-config');
      await shown(() => isShown(element));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt']);
      await set(element, { maxFileSize: '1kB' });
      await element.addFiles(textFile('c.txt'));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt', 'c.txt']);
    });

  for (const owner of ['bob', '', undefined, { id: 7 } as never])
    it(`keeps no file of the previous user, if owner changes with it to ${JSON.stringify(owner)}`, async () => {
      watchErrors();
      const { element } = await world({ element: true, manual: true, owner: 'ann' });
      await element.addFiles(textFile('a.txt'));
      await set(element, { owner, maxFiles: '' });
      await shown(() => element.snapshot.files.length === 0);
      expect(await codeOf(element.addFiles(textFile('b.txt')))).to.equal('bad-config');
      await set(element, { owner: 'bob', maxFiles: 3 });
      await element.addFiles(textFile('c.txt'));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['c.txt']);
    });
});

describe('a file that is added', () => {
  it('in the task that sets a setting that cannot be read is not added with the settings of before', async () => {
    const errors = watchErrors();
    const { element } = await world({ element: true, manual: true, maxFileSize: '1kB' });
    await element.addFiles(textFile('a.txt'));
    for (const maxFileSize of ['5OOMB', '']) {
      element.maxFileSize = maxFileSize;
      expect(await codeOf(element.addFiles(textFile('b.txt')))).to.equal('bad-config');
      expect([isShown(element), errors.splice(0).length], maxFileSize).to.deep.equal([true, 1]);
      await set(element, { maxFileSize: '1kB' });
    }
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt']);
  });

  it('in the task that sets another owner and a limit is added with these', async () => {
    const { element } = await world({ element: true, manual: true, owner: 'ann' });
    await element.addFiles(textFile('a.txt'));
    Object.assign(element, { owner: 'bob', maxFiles: 1 });
    await element.addFiles([textFile('b.txt'), textFile('c.txt')]);
    expect(element.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['too-many-files']);
    await element.updateComplete;
    await shown(() => element.snapshot.files.every(({ name }) => name === 'b.txt'));
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['b.txt']);
  });

  it('before the engine is loaded is refused if a setting becomes empty, and the page says so', async () => {
    for (const blank of [{ maxFiles: '' }, { authOptions: { ownerField: '' } }]) {
      const errors = watchErrors();
      const { load } = code;
      const arrived = deferred<void>();
      replace(code, 'load', async () => {
        await arrived.promise;
        return load();
      });
      const element = await open({});
      const added = codeOf(element.addFiles(textFile('a.txt')));
      await set(element, blank);
      expect([isShown(element), errors.length]).to.deep.equal([true, 1]);
      expect(await added).to.equal('bad-config');
      await set(element, { maxFiles: 3, authOptions: undefined });
      arrived.resolve();
      await element.addFiles(textFile('b.txt'));
      expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['b.txt']);
    }
  });
});

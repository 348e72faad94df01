// Properties of the element: defaults, texts and custom states.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { createFormat } from '../../src/ui/format.ts';
import { freshFile } from '../support/bytes.ts';
import { rejection } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { all, one } from './support.ts';

const PROPERTIES = {
  allowFramedLogin: false,
  multiple: false,
  directory: false,
  manual: false,
  noResume: false,
  keepFiles: false,
  disabled: false,
  noLeaveWarning: false,
  wakeLock: false,
  persistStorage: false,
  chunkEvents: false,
  idps: [],
  messages: {},
};

describe('the element', () => {
  it('has defaults that request nothing', () => {
    const element = document.createElement('secure-uploader') as SecureUploader;
    for (const [name, value] of Object.entries(PROPERTIES))
      expect(element[name as keyof SecureUploader], name).to.deep.equal(value);
  });

  it('reflects `disabled` as an attribute, and nothing else', async () => {
    const { element } = await world({ element: true, disabled: true, manual: true, noResume: true });
    expect(element.getAttributeNames()).to.deep.equal(['disabled']);
    element.disabled = false;
    await element.updateComplete;
    expect(element.getAttributeNames()).to.deep.equal([]);
  });

  it('uses new texts whenever they are set, and keeps them when another property is', async () => {
    const { element } = await world({ element: true });
    const label = (): string | null => one(element, '[part=base]').ariaLabel;
    expect(label()).to.equal('File upload');
    element.messages = { label: 'Dateien' };
    await element.updateComplete;
    expect([label(), element.texts.chooseFile]).to.deep.equal(['Dateien', 'Choose a file']);
    const { texts } = element;
    element.accept = '.pdf';
    await element.updateComplete;
    expect(element.texts).to.equal(texts);
    element.messages = {};
    await element.updateComplete;
    expect(label()).to.equal('File upload');
  });

  it('formats numbers for the locale of its texts', async () => {
    const { element } = await world({ element: true, ...({ messages: { locale: 'de' } } as object) });
    expect(element.format).to.equal(createFormat('de'));
    expect(element.format.size(1_500_000)).to.match(/^1,5\sMB$/);
  });

  it('has the state `uploading` only during an upload', async () => {
    const { element } = await world({ element: true });
    const isUploading = async (): Promise<boolean> => {
      element.requestUpdate();
      await element.updateComplete;
      return element.matches(':state(uploading)');
    };
    expect(await isUploading()).to.equal(false);
    await element.addFiles(freshFile(10));
    while (!(await isUploading())) await new Promise(requestAnimationFrame);
    await element.cancel();
    while (await isUploading()) await new Promise(requestAnimationFrame);
  });

  it('clears announcements for one owner when another one is set', async () => {
    const { element } = await world({ element: true, owner: 'ann', accept: '.pdf' });
    await element.addFiles(freshFile(10, 'a.txt'));
    const alert = (): string => one(element, '[role=alert][aria-live]').textContent ?? '';
    while (!alert()) await new Promise(requestAnimationFrame);
    element.accept = '.txt';
    await element.updateComplete;
    expect(alert()).to.contain('a.txt');
    element.owner = 'bob';
    await element.updateComplete;
    expect(alert()).to.equal('');
  });

  it('rejects files whose metadata is invalid, and adds none of them', async () => {
    const { element } = await world({ element: true });
    const picked = { file: freshFile(10), relativePath: 'a.txt', metadata: { size: 1n } as never };
    expect(await rejection(element.addFiles([freshFile(10), picked]))).to.include({ code: 'bad-config' });
    expect(element.snapshot.files).to.deep.equal([]);
  });

  it('does not read its settings again when only the list changes', async () => {
    const { element } = await world({ element: true, manual: true });
    let readCount = 0;
    Object.defineProperty(element, 'chunkSize', {
      configurable: true,
      get: () => {
        readCount += 1;
        return 1000;
      },
    });
    await element.addFiles(freshFile(10, 'a.txt'));
    // Files are not added with settings of before.
    expect(readCount).to.equal(1);
    while (all(element, '.row').length === 0) await new Promise(requestAnimationFrame);
    expect(readCount).to.equal(1);
    element.accept = '.txt';
    await element.updateComplete;
    expect(readCount).to.be.greaterThan(1);
  });

  it('removes itself from the page if no file is given', async () => {
    const { element } = await world({ element: true });
    expect(element.remove()).to.equal(undefined);
    expect(element.isConnected).to.equal(false);
  });

  it('opens no picker while it is disabled', async () => {
    const { element, asked } = await world({ element: true, disabled: true, noResume: true });
    await element.browse();
    await element.browse('folder');
    expect(asked).to.deep.equal([]);
    element.disabled = false;
    await element.browse();
    await element.browse('folder');
    expect(asked).to.deep.equal(['picker: files', 'picker: folder']);
  });

  it('opens the picker even before it was first rendered', async () => {
    const { asked } = await world({ element: true });
    const element = document.createElement('secure-uploader') as SecureUploader;
    element.noResume = true;
    document.body.append(element);
    await element.browse();
    expect(asked).to.deep.equal(['picker: files']);
    element.remove();
  });

  it('has no form before sign-in is required', async () => {
    const { element } = await world({ element: true, auth: 'local' });
    expect(all(element, 'slot[name=login]')).to.have.length(0);
    expect(element.children).to.have.length(0);
  });
});

describe('formats', () => {
  it('are created once for a locale, and for each unit', () => {
    const { NumberFormat } = Intl;
    let count = 0;
    Intl.NumberFormat = class extends NumberFormat {
      constructor(...args: ConstructorParameters<typeof NumberFormat>) {
        super(...args);
        count += 1;
      }
    } as typeof NumberFormat;
    try {
      const format = createFormat('sv-FI');
      expect(createFormat('sv-FI')).to.equal(format);
      count = 0;
      for (const bytes of [1, 2, 3]) format.size(bytes);
      for (const ms of [10_000, 20_000]) format.duration(ms);
      expect(count).to.equal(2);
    } finally {
      Intl.NumberFormat = NumberFormat;
    }
  });
});

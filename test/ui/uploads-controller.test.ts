// What the element is before its engine and list are loaded, and what it does if they cannot be loaded.

import { expect, fixture, html } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { SavedUploads } from '../../src/engine/resume/upload-store.ts';
import { Uploader } from '../../src/engine/uploader.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { code, type UploadsModule } from '../../src/ui/uploads-controller.ts';
import { recordOf } from '../engine/resume/saved.ts';
import { type Deferred, deferred, rejection, settled, until } from '../support/collect.ts';
import { recordWrites, replace, watchBrowser } from '../support/world.ts';
import { all, button, one, pick, textFile, textOf, transferOf } from './support.ts';

const { load } = code;

/** Holds the code back. Each request for it is in `requests`; the test resolves it with `arrive()` or rejects it. */
function holdCode() {
  const requests: Deferred<UploadsModule>[] = [];
  replace(code, 'load', () => {
    const request = deferred<UploadsModule>();
    requests.push(request);
    return request.promise;
  });
  return {
    requests,
    arrive: async (): Promise<void> => requests.at(-1)?.resolve(await load()),
    fail: (): void => requests.at(-1)?.reject(new TypeError('Failed to fetch dynamically imported module')),
  };
}

const URL_OF_SERVICE = 'https://files.example';

async function open(properties: object = {}): Promise<SecureUploader> {
  const element = await fixture<SecureUploader>(
    html`<secure-uploader parent-id="folder-a" auth="none" manual multiple></secure-uploader>`,
  );
  Object.assign(element, { baseUrl: URL_OF_SERVICE, engineOptions: { page: new Set() }, ...properties });
  await element.updateComplete;
  return element;
}

/** Drops what the element writes to the console until the end of the test. */
const quiet = (): void => replace(console, 'error', () => undefined);

describe('the element before its engine is loaded', () => {
  it('requests the code once, after its first rendering', async () => {
    const { requests } = holdCode();
    const element = document.createElement('secure-uploader') as SecureUploader;
    element.baseUrl = URL_OF_SERVICE;
    document.body.append(element);
    expect(requests).to.have.length(0);
    await element.updateComplete;
    expect(one(element, '[data-action=browse]')).to.be.instanceOf(HTMLButtonElement);
    expect(requests).to.have.length(1);
    element.maxFiles = 3;
    await element.updateComplete;
    void element.start();
    await settled();
    expect(requests).to.have.length(1);
    element.remove();
  });

  it('requests nothing without base-url, and nothing with invalid settings', async () => {
    const { requests } = holdCode();
    quiet();
    const element = await open({ baseUrl: undefined });
    expect(requests).to.have.length(0);
    element.baseUrl = 'ftp://files.example';
    await element.updateComplete;
    expect(requests).to.have.length(0);
    expect(one(element, '[part=error]').textContent).to.contain("aren't set up correctly");
    expect((await rejection<UploaderError>(element.start())).code).to.equal('bad-config');
    expect((await rejection<UploaderError>(element.addFiles(textFile('a.txt')))).code).to.equal('bad-config');
    expect(requests).to.have.length(0);
    element.baseUrl = URL_OF_SERVICE;
    await element.updateComplete;
    expect(requests).to.have.length(1);
  });

  it('shows at once how many chosen files are read, and adds them when the code arrives', async () => {
    const { arrive } = holdCode();
    const element = await open();
    pick(element, textFile('a.txt'), textFile('b.txt'));
    await until(() => textOf(element).includes('Reading files… 2 files found'));
    expect(element.snapshot.files).to.have.length(0);
    await arrive();
    await until(() => all(element, '.row').length === 2);
    await until(() => !textOf(element).includes('Reading files'));
  });

  it('copies the list of files, which the page may empty', async () => {
    const { arrive } = holdCode();
    const element = await open();
    const data = transferOf(textFile('a.txt'));
    const added = element.addFiles(data.files);
    data.items.clear();
    await arrive();
    await added;
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt']);
  });

  it('carries out the calls of the page in their order', async () => {
    const { arrive } = holdCode();
    const element = await open();
    const names: string[] = [];
    for (const name of ['addFiles', 'start', 'pause', 'clear'] as const)
      replace(Uploader.prototype, name, async () => void names.push(name));
    const calls = [
      element.addFiles(textFile('a.txt')),
      element.start(),
      element.addFiles(textFile('b.txt')),
      element.pause(),
      element.clear(),
    ];
    await arrive();
    await Promise.all(calls);
    expect(names).to.deep.equal(['addFiles', 'start', 'addFiles', 'pause', 'clear']);
  });

  it('lets the next user sign in after a sign-out, although both wait for the code', async () => {
    const { arrive } = holdCode();
    const element = await open({ getToken: () => 'first' });
    const names: string[] = [];
    for (const name of ['endPeriod', 'allowSignIn'] as const)
      replace(Uploader.prototype, name, async () => void names.push(name));
    const left = element.signOut();
    element.getToken = () => 'second';
    await element.updateComplete;
    await arrive();
    await left;
    await settled();
    expect(names).to.deep.equal(['allowSignIn', 'endPeriod', 'allowSignIn']);
  });

  it('opens the picker without waiting for the code', async () => {
    holdCode();
    const element = await open();
    const asked: string[] = [];
    watchBrowser(asked);
    button(element, 'Choose files').click();
    await settled();
    expect(asked).to.deep.equal(['picker: files']);
  });

  it('is invalid as a required field, and counts files that are being read', async () => {
    const { arrive } = holdCode();
    const element = await open({ required: true });
    expect([element.checkValidity(), element.validationMessage]).to.deep.equal([false, 'Upload a file.']);
    const added = element.addFiles(textFile('a.txt'));
    await element.updateComplete;
    expect(element.validationMessage).to.contain("aren't uploaded yet");
    await arrive();
    await added;
    await until(() => !textOf(element).includes('Reading files'));
    await element.remove(element.snapshot.files[0]?.id ?? '');
    await until(() => element.validationMessage === 'Upload a file.');
  });

  it('drops files that wait when its form is reset', async () => {
    const { arrive } = holdCode();
    const element = await open();
    const form = document.createElement('form');
    element.replaceWith(form);
    form.append(element);
    const added = element.addFiles(textFile('a.txt'));
    form.reset();
    await arrive();
    await added;
    expect(element.snapshot.files).to.deep.equal([]);
    form.remove();
  });

  it('shows the sum of the files that wait, also after a picker that was canceled', async () => {
    const { arrive } = holdCode();
    const element = await open();
    pick(element, textFile('a.txt'));
    await until(() => textOf(element).includes('Reading files… 1 file found'));
    pick(element, textFile('b.txt'));
    await until(() => textOf(element).includes('Reading files… 2 files found'));
    watchBrowser([]);
    replace(navigator, 'userActivation' as never, { isActive: true });
    await element.browse();
    one(element, '#files').dispatchEvent(new Event('cancel'));
    await element.updateComplete;
    expect(textOf(element)).to.contain('Reading files… 2 files found');
    await arrive();
    await until(() => all(element, '.row').length === 2);
  });

  it('keeps files that wait while its settings are invalid or its base-url is away', async () => {
    quiet();
    const { arrive } = holdCode();
    const element = await open();
    const added = element.addFiles(textFile('a.txt'));
    element.baseUrl = undefined;
    await element.updateComplete;
    await arrive();
    await settled();
    expect(element.renderRoot.querySelector('[part=error]')).to.equal(null);
    for (const baseUrl of ['ftp://files.example', URL_OF_SERVICE]) {
      element.baseUrl = baseUrl;
      await element.updateComplete;
    }
    await arrive();
    await added;
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt']);
  });

  it('forgets files that wait when the user changes', async () => {
    const { arrive } = holdCode();
    const element = await open({ owner: 'alice' });
    const added = element.addFiles(textFile('a.txt'));
    element.owner = 'bob';
    await element.updateComplete;
    expect(textOf(element)).not.to.contain('Reading files');
    await arrive();
    await added;
    expect(element.snapshot.files).to.deep.equal([]);
  });

  it('uses the settings as they are when the code arrives', async () => {
    const { arrive } = holdCode();
    const element = await open();
    element.maxFiles = 1;
    const added = element.addFiles([textFile('a.txt'), textFile('b.txt')]);
    await arrive();
    await added;
    expect(element.snapshot.rejections.map(({ code }) => code)).to.deep.equal(['too-many-files']);
  });

  it('suspends the engine if the element was removed meanwhile, until it is back', async () => {
    const { arrive } = holdCode();
    const calls: string[] = [];
    replace(Uploader.prototype, 'suspend', () => Promise.resolve(calls.push('suspend')));
    replace(Uploader.prototype, 'restore', () => calls.push('restore'));
    const element = await open();
    const { parentElement: page } = element;
    const called = element.start();
    element.remove();
    await new Promise((resolve) => setTimeout(resolve));
    await arrive();
    await called;
    expect(calls).to.deep.equal(['suspend']);
    page?.append(element);
    expect(calls).to.deep.equal(['suspend', 'restore']);
  });

  it('has the same drop zone as afterwards, and keeps its focus', async () => {
    const { arrive } = holdCode();
    const element = await open();
    one(element, '[data-action=browse]').focus();
    const { activeElement } = element.renderRoot as ShadowRoot;
    const heightOf = (): number => element.getBoundingClientRect().height;
    const [before, text] = [heightOf(), textOf(element)];
    await arrive();
    await element.start();
    await element.updateComplete;
    expect([heightOf(), textOf(element)]).to.deep.equal([before, text]);
    expect(activeElement instanceof HTMLButtonElement).to.equal(true);
    expect((element.renderRoot as ShadowRoot).activeElement === activeElement).to.equal(true);
  });

  it('works in an element that is never in a page', async () => {
    const element = document.createElement('secure-uploader') as SecureUploader;
    Object.assign(element, { baseUrl: URL_OF_SERVICE, auth: 'none', manual: true });
    await element.addFiles(textFile('a.txt'));
    expect(element.snapshot.files).to.have.length(1);
  });
});

describe('an element whose engine cannot be loaded', () => {
  /** Opens an element. `failTwice` lets the next request fail, and its repetition. */
  async function openFailing() {
    quiet();
    replace(code, 'againMs', 0);
    const held = holdCode();
    const element = await open();
    const failTwice = async (): Promise<void> => {
      const count = held.requests.length;
      held.fail();
      await until(() => held.requests.length > count);
      held.fail();
      await until(() => element.renderRoot.querySelector('[part=error]') !== null);
    };
    return { element, failTwice, ...held };
  }

  it('requests the code once more, and shows nothing if that succeeds', async () => {
    const { element, requests, fail, arrive } = await openFailing();
    fail();
    await until(() => requests.length === 2);
    await arrive();
    await element.addFiles(textFile('a.txt'));
    expect(element.snapshot.files).to.have.length(1);
    expect(element.renderRoot.querySelector('[part=error]')).to.equal(null);
  });

  it('keeps chosen files until the user tries again, and adds them then', async () => {
    const { element, failTwice, arrive } = await openFailing();
    pick(element, textFile('a.txt'));
    await failTwice();
    expect(one(element, '[part=error]').getAttribute('role')).to.equal('alert');
    expect(textOf(element)).to.contain('Check your connection and try again.');
    expect(textOf(element)).to.contain('Reading files… 1 file found');
    pick(element, textFile('b.txt'));
    button(element, 'Try again').focus();
    button(element, 'Try again').click();
    await element.updateComplete;
    expect(element.renderRoot.querySelector('[part=error]')).to.equal(null);
    expect((element.renderRoot as ShadowRoot).activeElement?.className).to.contain('base');
    await arrive();
    await until(() => all(element, '.row').length === 2);
  });

  it('is there with all files that wait as soon as another call has loaded the code', async () => {
    const { element, failTwice, arrive, requests } = await openFailing();
    pick(element, textFile('a.txt'));
    await failTwice();
    pick(element, textFile('b.txt'));
    await settled();
    expect(requests).to.have.length(2);
    const cleared = element.clear();
    await arrive();
    await cleared;
    await until(() => all(element, '.row').length === 2);
    expect(element.renderRoot.querySelector('[part=error]')).to.equal(null);
    expect(one<HTMLButtonElement>(element, '[data-action=browse]').disabled).to.equal(false);
  });

  it('loads the code again when the browser is online again, without a click', async () => {
    const { element, failTwice, arrive, requests } = await openFailing();
    pick(element, textFile('a.txt'));
    await failTwice();
    window.dispatchEvent(new Event('online'));
    await element.updateComplete;
    expect(element.renderRoot.querySelector('[part=error]')).to.equal(null);
    expect(requests).to.have.length(3);
    await failTwice();
    expect(textOf(element)).to.contain('Check your connection and try again.');
    window.dispatchEvent(new Event('online'));
    await arrive();
    await until(() => all(element, '.row').length === 1);
  });

  it('asks to reload the page if trying again fails, too, and takes no more files', async () => {
    const { element, requests, failTwice } = await openFailing();
    const waiting = rejection<UploaderError>(element.addFiles(textFile('a.txt')));
    await failTwice();
    button(element, 'Try again').click();
    await until(() => requests.length === 3);
    await failTwice();
    expect((await waiting).code).to.equal('network');
    await until(() => !textOf(element).includes('Reading files'));
    expect(textOf(element)).to.contain('Reload this page, then choose your files again.');
    expect(all(element, '[data-action=try-again]')).to.have.length(0);
    expect(one<HTMLButtonElement>(element, '[data-action=browse]').disabled).to.equal(true);
    const asked: string[] = [];
    watchBrowser(asked);
    await element.browse();
    expect(asked).to.deep.equal([]);
  });

  it('gives up a request that never ends', async () => {
    replace(code, 'longestMs', 20);
    const { element, requests } = await openFailing();
    await until(() => textOf(element).includes('Check your connection'));
    expect(requests).to.have.length(2);
  });

  it('adds no files of a user who has signed out, and deletes what is saved as soon as the code is there', async () => {
    const { element, failTwice } = await openFailing();
    pick(element, textFile('secret.txt'));
    await failTwice();
    await new SavedUploads().save(recordOf());
    const written = recordWrites();
    const signedOut = rejection<UploaderError>(element.signOut());
    await failTwice();
    expect((await signedOut).code).to.equal('network');
    // Other uploaders of this page delete, too, as soon as the period ends.
    expect(written.slice(0, 2)).to.deep.equal(['secure-uploader:delete', 'secure-uploader:period']);
    replace(code, 'load', load);
    button(element, 'Try again').click();
    await until(async () => (await new SavedUploads().list()).length === 0);
    await element.clear();
    expect(element.snapshot.files).to.deep.equal([]);
    await until(() => localStorage.getItem('secure-uploader:delete') === null);
  });

  it('rejects calls that need no file with the cause', async () => {
    const { element, failTwice } = await openFailing();
    const calls = (['start', 'pause', 'clear', 'signOut', 'diagnose'] as const).map((name) =>
      rejection<UploaderError>(element[name]()),
    );
    await failTwice();
    for (const error of await Promise.all(calls)) {
      expect(error).to.be.instanceOf(UploaderError);
      expect([error.code, (error.cause as Error).name]).to.deep.equal(['network', 'TypeError']);
    }
  });
});

// The element with the real engine and the reference service: actions of a user, content of the element, and events.

import { expect } from '@open-wc/testing';
import type { LogEntry } from '../../demo/server/faults.ts';
import { SecureUploader } from '../../src/index.ts';
import { addFault, findReference, logOf, uniqueName } from '../service/reference.ts';
import { skipTime } from '../support/clock.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { world } from '../support/world.ts';
import { all, button, nextEvent, one, pick, shown, textFile, textOf } from './support.ts';

describe('uploading with the element', () => {
  it('uploads a picked file, shows that it is done, and reports to the page what was stored', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    const name = uniqueName();
    const completed = nextEvent(element, 'upload-completed');
    pick(element, textFile(name));
    const { detail } = await completed;
    expect(detail.name).to.equal(name);
    expect(detail.chunks).to.have.length(1);
    expect(detail.chunks[0]?.receipt).to.be.a('string').and.not.empty;
    expect(Object.isFrozen(detail)).to.equal(true);
    await shown(() => element.renderRoot.querySelector('.row.done'));
    expect(textOf(element)).to.contain('Done · '.replace(' · ', ''));
  });

  it('dispatches its events in order, each bubbling and composed', async () => {
    const { element } = await world({ element: true, service: 'reference', chunkEvents: true });
    const received: string[] = [];
    const names = [
      'file-add',
      'file-added',
      'upload-started',
      'chunk-hashed',
      'chunk-uploaded',
      'upload-completed',
      'uploads-finished',
    ] as const;
    const stop = new AbortController();
    for (const name of names) {
      document.addEventListener(
        name,
        (event) => {
          received.push(event.type);
          expect(event.composed).to.equal(true);
        },
        { signal: stop.signal },
      );
    }
    const finished = nextEvent(element, 'uploads-finished');
    await element.addFiles([textFile(uniqueName())]);
    expect((await finished).detail).to.deep.equal({
      doneCount: 1,
      failedCount: 0,
      canceledCount: 0,
      waitingCount: 0,
    });
    stop.abort();
    expect(received.filter((name, index) => received.indexOf(name) === index)).to.deep.equal(names);
  });

  it('warns that there may be no file without commit-path', () =>
    captureWarnings(async (warnings) => {
      const { element } = await world({ element: true, service: 'reference', commitPath: undefined });
      const completed = nextEvent(element, 'upload-completed');
      pick(element, textFile(uniqueName()));
      await completed;
      expect(warnings).to.deep.equal([
        'secure-uploader: Without commit-path, the service may never create the file.',
      ]);
    }));

  it('dispatches no chunk events by default', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    let count = 0;
    element.addEventListener('chunk-uploaded', () => count++);
    const finished = nextEvent(element, 'uploads-finished');
    await element.addFiles([textFile(uniqueName())]);
    await finished;
    expect(count).to.equal(0);
  });

  it('requests one token for three files, and never shows sign-in', async () => {
    const { getToken } = (await world({ element: true, service: 'reference' })).element;
    let asked = 0;
    let wasShown = false;
    const { element } = await world({
      element: true,
      service: 'reference',
      getToken: async (...args) => {
        asked++;
        return (await getToken?.(...args)) ?? '';
      },
    });
    const watcher = new MutationObserver(() => {
      wasShown ||= element.renderRoot.querySelector('.sign-in') !== null;
    });
    watcher.observe(element.renderRoot, { childList: true, subtree: true });
    const finished = nextEvent(element, 'uploads-finished');
    pick(element, textFile(uniqueName()), textFile(uniqueName()), textFile(uniqueName()));
    expect((await finished).detail.doneCount).to.equal(3);
    expect(asked).to.equal(1);
    expect(wasShown).to.equal(false);
  });

  it('accepts a token through the write-only property, and never returns it', async () => {
    const { getToken } = (await world({ element: true, service: 'reference' })).element;
    const token = await getToken?.('first', new AbortController().signal);
    const { element } = await world({ element: true, service: 'reference', getToken: undefined });
    element.token = token as string;
    await element.updateComplete;
    expect(element.token).to.equal(undefined);
    expect(element.outerHTML).not.to.contain(token);
    const finished = nextEvent(element, 'uploads-finished');
    pick(element, textFile(uniqueName()));
    expect((await finished).detail.doneCount).to.equal(1);
  });

  for (const auth of ['token', 'auto'] as const)
    it(`uploads a file that was dropped before the page set the token (${auth})`, async () => {
      const { getToken } = (await world({ element: true, service: 'reference' })).element;
      const { element } = await world({
        element: true,
        service: 'reference',
        auth,
        silent: 'off',
        getToken: undefined,
      });
      const finished = nextEvent(element, 'uploads-finished');
      element.addEventListener('auth-required', async () => {
        element.token = (await getToken?.('first', new AbortController().signal)) as string;
      });
      pick(element, textFile(uniqueName()));
      expect((await finished).detail.doneCount).to.equal(1);
    });

  it('uploads a file of `manual` with the token that the page sets when it starts the upload', async () => {
    const { getToken } = (await world({ element: true, service: 'reference' })).element;
    const { element } = await world({
      element: true,
      service: 'reference',
      auth: 'token',
      manual: true,
      getToken: undefined,
    });
    const added = nextEvent(element, 'file-added');
    pick(element, textFile(uniqueName()));
    await added;
    const finished = nextEvent(element, 'uploads-finished');
    element.token = (await getToken?.('first', new AbortController().signal)) as string;
    await element.start();
    expect((await finished).detail.doneCount).to.equal(1);
  });

  it('lets the page reject a file before it is added', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    const refused = uniqueName();
    element.addEventListener('file-add', (event) => {
      if (event.detail.name === refused) event.preventDefault();
    });
    const finished = nextEvent(element, 'uploads-finished');
    pick(element, textFile(refused), textFile(uniqueName()));
    await finished;
    await shown(() => all(element, '.row').length === 1);
    expect(textOf(element)).not.to.contain(refused.slice(0, 8));
  });

  it('rejects files that are too large or of another type, each with its sentence, until that is dismissed', async () => {
    const { element } = await world({
      element: true,
      service: 'reference',
      accept: '.txt',
      maxFileSize: '40',
    });
    const rejected = nextEvent(element, 'file-rejected');
    pick(element, textFile('large.txt'), textFile('setup.exe', 'application/x-msdownload'));
    expect((await rejected).detail.code).to.equal('file-too-large');
    const panel = await shown(() => element.renderRoot.querySelector('[part=rejections]'));
    // On a slow machine, the panel may appear before the second file is rejected.
    await shown(() => panel.textContent?.includes("2 files weren't added"));
    expect(panel.textContent).to.contain(
      'Too large. Choose a smaller file. Allowed: up to 40 bytes per file.',
    );
    expect(panel.textContent).to.contain('File type not allowed.');
    expect(all(element, '.row')).to.have.length(0);
    button(element, 'Dismiss').click();
    await shown(() => !element.renderRoot.querySelector('[part=rejections]'));
  });

  it('shows the error of a folder without write permission, and what to do', async () => {
    const { element } = await world({ element: true, service: 'reference', parentId: 'folder-readonly' });
    const failed = nextEvent(element, 'upload-failed');
    pick(element, textFile(uniqueName()));
    expect((await failed).detail).to.include({ code: 'forbidden', status: 403 });
    const row = await shown(() => element.renderRoot.querySelector('.row.failed'));
    expect(row.textContent).to.contain(
      "You don't have permission to upload here. Contact the site owner for access.",
    );
    await shown(() =>
      one(element, '[role=alert][aria-live]').textContent?.includes("You don't have permission to upload"),
    );
  });

  it('retries a failed file by its button once the fault is removed', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    const name = uniqueName();
    await addFault({ operation: 'session', status: 400, times: 1, fileName: name });
    const failed = nextEvent(element, 'upload-failed');
    pick(element, textFile(name));
    await failed;
    const retry = await shown(() => element.renderRoot.querySelector<HTMLButtonElement>('[title^="Retry:"]'));
    const completed = nextEvent(element, 'upload-completed');
    retry.click();
    expect((await completed).detail.name).to.equal(name);
  });

  it('waits for the start button with manual', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    pick(element, textFile(uniqueName()), textFile(uniqueName()));
    await shown(() => all(element, '.row.queued').length === 2);
    const start = await shown(() =>
      element.renderRoot.querySelector<HTMLButtonElement>('[data-action=start]'),
    );
    expect(start.textContent?.trim()).to.equal('Upload 2 files');
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['queued', 'queued']);
    const finished = nextEvent(element, 'uploads-finished');
    start.click();
    expect((await finished).detail.doneCount).to.equal(2);
  });

  it('accepts only one file without multiple', async () => {
    const { element } = await world({ element: true, service: 'reference', multiple: false, manual: true });
    expect(textOf(element)).to.contain('Drop a file here');
    pick(element, textFile('first.txt'), textFile('second.txt'));
    const panel = await shown(() => element.renderRoot.querySelector('[part=rejections]'));
    expect(panel.textContent).to.contain('second.txt');
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['first.txt']);
  });

  it('pauses, resumes, cancels and removes by the buttons of a row', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    pick(element, textFile('paper.txt'));
    await shown(() => element.renderRoot.querySelector('.row.queued'));
    button(element, 'Pause: paper.txt').click();
    await shown(() => element.renderRoot.querySelector('.row.paused'));
    button(element, 'Cancel: paper.txt').click();
    await shown(() => element.renderRoot.querySelector('.row.canceled'));
    // Without the time between, the second click would count as a double click.
    const restore = skipTime(1000);
    button(element, 'Remove from list: paper.txt').click();
    restore();
    await shown(() => all(element, '.row').length === 0);
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['canceled']);
    globalThis.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
    await until(() => element.snapshot.files.length === 0);
  });

  it('reports missing settings when a file is added, once on the console, and works when they are set', async () => {
    const reported: string[] = [];
    const { error } = console;
    console.error = (...args: unknown[]) => reported.push(args.join(' '));
    try {
      const { element } = await world({ element: true, service: 'reference', baseUrl: undefined });
      expect(textOf(element)).not.to.contain("aren't set up");
      pick(element, textFile('early.txt'));
      pick(element, textFile('early.txt'));
      await shown(() => textOf(element).includes("Uploads aren't set up correctly on this page."));
      expect(reported).to.have.length(1);
      expect(reported[0]).to.contain('base-url is not set');
      element.baseUrl = (await findReference()).baseUrl;
      await element.updateComplete;
      expect(textOf(element)).not.to.contain("aren't set up");
    } finally {
      console.error = error;
    }
  });

  it('hides a token that was set before the element was defined', () => {
    const element = document.createElement('early-uploader');
    Object.assign(element, { token: 'early' });
    customElements.define('early-uploader', class extends SecureUploader {});
    document.body.append(element);
    customElements.upgrade(element);
    expect('token' in element && (element as { token?: unknown }).token).to.equal(undefined);
    expect((element as SecureUploader).getToken).to.equal(undefined);
    element.remove();
  });

  it('ignores a token in HTML, and warns', () =>
    captureWarnings(async (warnings) => {
      const element = document.createElement('secure-uploader');
      element.setAttribute('token', 'eyJhbGciOi');
      document.body.append(element);
      await element.updateComplete;
      element.remove();
      expect(warnings.join()).to.contain('Did you mean the property token?').and.not.contain('eyJ');
      expect(element.getToken).to.equal(undefined);
    }));

  it('fails a file immediately if its bytes would go to an origin that the page does not allow, and names it', () =>
    captureWarnings(async (warnings) => {
      const { storageUrl } = await findReference();
      const { element } = await world({
        element: true,
        service: 'reference',
        uploadOrigins: 'https://a.example https://b.example',
      });
      const name = uniqueName();
      const failed = nextEvent(element, 'upload-failed');
      await element.addFiles(textFile(name));
      expect((await failed).detail).to.include({ code: 'bad-config', retryable: false });
      expect(warnings).to.deep.equal([
        `secure-uploader: upload-origins does not name ${new URL(storageUrl).origin}`,
      ]);
      const operations = (await logOf({ fileName: name })).map(({ operation }) => operation);
      expect(operations).to.deep.equal(['session', 'chunks']);
    }));
});

describe('leaving the page', () => {
  it('does nothing when the element is only moved: running requests complete, once', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    const name = uniqueName();
    await addFault({ operation: 'put', match: { fileName: name }, delayMs: 1000 });
    const puts = async (): Promise<LogEntry[]> =>
      (await logOf({ fileName: name })).filter(({ operation }) => operation === 'put');
    let pausedCount = 0;
    element.addEventListener('upload-paused', () => pausedCount++);
    const completed = nextEvent(element, 'upload-completed');
    await element.addFiles([textFile(name)]);
    await until(async () => (await puts()).length > 0);
    const other = document.createElement('div');
    element.parentElement?.append(other);
    other.append(element);
    await completed;
    expect(pausedCount).to.equal(0);
    expect((await puts()).map(({ stored, broken }) => [stored, broken])).to.deep.equal([[true, undefined]]);
  });

  it('pauses when it is removed, and resumes when it is added again', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await element.addFiles([textFile(uniqueName())]);
    const parent = element.parentElement;
    const paused = nextEvent(element, 'upload-paused');
    await element.start();
    element.remove();
    await paused;
    expect(element.isConnected).to.equal(false);
    const resumed = nextEvent(element, 'upload-resumed');
    parent?.append(element);
    await resumed;
    expect(element.snapshot.files[0]?.phase).not.to.equal('paused');
  });
});

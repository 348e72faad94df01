// The component for React with the real React and the reference service. This file doesn't import `define.ts`: the component
// defines the element.

import { expect } from '@open-wc/testing';
import { createElement, createRef, type ReactNode, StrictMode, useLayoutEffect } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import type { GetToken } from '../../src/core/settings-table.ts';
import { SecureUploader, type SecureUploaderElement, type SecureUploaderProps } from '../../src/react.ts';
import { addFault, findReference, logOf, tokenOf, uniqueName } from '../service/reference.ts';
import { deferred, settled, until } from '../support/collect.ts';

const TAG = 'secure-uploader';
const textFile = (name: string): File => new File([`${name} ${crypto.randomUUID()}`], name);

let root: Root | undefined;
let settings: SecureUploaderProps & { readonly getToken: GetToken };
let tokenCount = 0;
const ref = createRef<SecureUploaderElement>();

/** Returns the component in strict mode, with the settings for the reference service and `props`. */
const app = (props: SecureUploaderProps = {}, ...others: ReactNode[]): ReactNode =>
  createElement(StrictMode, null, createElement(SecureUploader, { ...settings, ...props, ref }), ...others);

const render = (...args: Parameters<typeof app>): void => flushSync(() => root?.render(app(...args)));

/** Renders the component for the first time, and waits until the element is defined. */
async function mount(...args: Parameters<typeof app>): Promise<SecureUploaderElement> {
  const container = document.createElement('div');
  document.body.append(container);
  root = createRoot(container);
  render(...args);
  await customElements.whenDefined(TAG);
  return ref.current as SecureUploaderElement;
}

before(async () => {
  const { baseUrl } = await findReference();
  const token = await tokenOf('alice');
  const getToken = (): string => {
    tokenCount += 1;
    return token;
  };
  settings = { baseUrl, parentId: 'folder-a', commitPath: '/files/uploadsession/commit', getToken };
});

beforeEach(() => {
  tokenCount = 0;
});

afterEach(() => {
  flushSync(() => root?.unmount());
  root = undefined;
  document.body.replaceChildren();
  // After a sign-out, no later test with the same service in this profile would sign in silently.
  localStorage.clear();
});

describe('the component for React', () => {
  it('uploads after hydration, without any earlier request for a token', async () => {
    expect(customElements.get(TAG)).to.equal(undefined);
    const completed: string[] = [];
    const done = deferred();
    const first = app(
      {
        ...{ id: 'files', className: 'wide', hidden: false, multiple: true, maxFiles: 3, accept: '.txt' },
        children: createElement('p', { slot: 'hint' }, 'Up to 5 MB'),
        onUploadCompleted: ({ detail }) => completed.push(detail.name),
        onUploadsFinished: () => done.resolve(),
      },
      createElement('hr', { key: 'other' }),
    );
    const container = document.createElement('div');
    container.innerHTML = renderToString(first);
    document.body.append(container);
    expect(container.innerHTML).to.equal(
      '<secure-uploader id="files" class="wide"><p slot="hint">Up to 5 MB</p></secure-uploader><hr>',
    );
    const element = container.firstElementChild as SecureUploaderElement;
    const errors: unknown[] = [];
    flushSync(() => {
      root = hydrateRoot(container, first, { onRecoverableError: (error) => errors.push(error) });
    });
    expect(ref.current).to.equal(element);
    expect(customElements.get(TAG)).to.equal(undefined);
    // `multiple` is removed before the element is defined.
    render({
      ...{ id: 'files', className: 'wide', maxFiles: 3, accept: undefined },
      onUploadCompleted: ({ detail }) => completed.push(detail.name),
      onUploadsFinished: () => done.resolve(),
    });
    await customElements.whenDefined(TAG);
    await element.updateComplete;
    expect(container.firstElementChild).to.equal(element);
    expect([element.baseUrl, element.multiple, element.maxFiles, element.accept]).to.deep.equal([
      ...[settings.baseUrl, false, 3, undefined],
    ]);
    await settled();
    expect([tokenCount, document.querySelectorAll('iframe').length, errors.length]).to.deep.equal([0, 0, 0]);
    const name = uniqueName();
    await element.addFiles(textFile(name));
    await done.promise;
    expect([completed, tokenCount]).to.deep.equal([[name], 1]);
  });

  it('calls the listener of the last rendering, and misses no event while listeners change', async () => {
    const received: string[] = [];
    let count = 0;
    /** Dispatches an event in each commit, before the effects of the component. */
    const Dispatching = (): null => {
      useLayoutEffect(() => {
        count += 1;
        const detail = { ids: [String(count)] };
        document.querySelector(TAG)?.dispatchEvent(new CustomEvent('rejections-dismissed', { detail }));
      });
      return null;
    };
    const both = (props: SecureUploaderProps): ReactNode => [
      createElement(Dispatching, { key: 'dispatching' }),
      createElement(SecureUploader, { ...settings, ...props, ref, key: 'uploader' }),
    ];
    const container = document.createElement('div');
    document.body.append(container);
    root = createRoot(container);
    const renderBoth = (props: SecureUploaderProps): void => flushSync(() => root?.render(both(props)));
    renderBoth({});
    count = 0;
    renderBoth({ onRejectionsDismissed: ({ detail }) => received.push(`a${detail.ids}`) });
    renderBoth({ onRejectionsDismissed: ({ detail }) => received.push(`b${detail.ids}`) });
    renderBoth({ onRejectionsDismissed: ({ detail }) => received.push(`c${detail.ids}`) });
    const dispatch = (): unknown =>
      ref.current?.dispatchEvent(new CustomEvent('rejections-dismissed', { detail: { ids: ['end'] } }));
    dispatch();
    renderBoth({});
    dispatch();
    // The first event of the three precedes the first listener.
    expect(received).to.deep.equal(['a2', 'b3', 'cend', 'c4']);
  });

  it('lets a listener reject a file, and passes clicks to React', async () => {
    let clickCount = 0;
    const element = await mount({
      manual: true,
      onClick: () => {
        clickCount += 1;
      },
      onFileAdd: (event) => event.preventDefault(),
    });
    element.click();
    await element.addFiles(textFile(uniqueName()));
    expect([clickCount, element.snapshot.files.length]).to.deep.equal([1, 0]);
  });

  it('keeps the session if getToken is another function in each rendering, and calls the newest', async () => {
    const called: number[] = [];
    const withToken = (index: number): SecureUploaderProps => ({
      getToken: (...args) => {
        called.push(index);
        return settings.getToken(...args);
      },
    });
    const done = deferred();
    const element = await mount(withToken(0));
    await element.updateComplete;
    const { getToken } = element;
    for (const index of [1, 2, 3]) render({ ...withToken(index), onUploadsFinished: () => done.resolve() });
    expect(element.getToken).to.equal(getToken);
    await element.addFiles(textFile(uniqueName()));
    await done.promise;
    expect(called).to.deep.equal([3]);
  });

  it('does not sign in again after a sign-out, although it was rendered again', async () => {
    const element = await mount();
    let done = deferred();
    const asked = deferred();
    const listeners: SecureUploaderProps = {
      onUploadsFinished: () => done.resolve(),
      onAuthChanged: ({ detail }) => detail.state === 'prompt' && asked.resolve(),
    };
    render(listeners);
    await element.addFiles(textFile(uniqueName()));
    await done.promise;
    await element.signOut();
    done = deferred();
    render({ ...listeners, getToken: (...args) => settings.getToken(...args) });
    await element.addFiles(textFile(uniqueName()));
    await asked.promise;
    expect(tokenCount).to.equal(1);
    await element.signIn();
    await done.promise;
    expect(tokenCount).to.equal(2);
  });

  it('resets properties that are removed or undefined', async () => {
    const set = {
      ...{ maxFiles: 3, multiple: true, disabled: true, auth: 'popup', onConflict: 'rename' },
      ...{ messages: { dropFiles: 'Drop' }, idps: [{ id: 'a', label: 'A', kind: 'local' }] },
      ...{ profile: { missingChunk: 'stored' }, parentFor: () => 'folder-b' },
    } satisfies SecureUploaderProps;
    const names = [...(Object.keys(set) as (keyof typeof set)[]), 'getToken' as const];
    const element = await mount(set);
    const pristine = document.createElement(TAG);
    const valuesOf = (one: SecureUploaderElement): unknown[] => names.map((name) => one[name]);
    const expectReset = async (): Promise<void> => {
      await element.updateComplete;
      expect(valuesOf(element)).to.deep.equal(valuesOf(pristine));
      expect(element.getAttributeNames()).to.deep.equal([]);
    };
    await element.updateComplete;
    expect(element.maxFiles).to.equal(3);
    expect(element.parentFor?.('')).to.equal('folder-b');
    expect(element.hasAttribute('disabled')).to.equal(true);
    render({ getToken: undefined });
    await expectReset();
    render(set);
    render(Object.fromEntries(names.map((name) => [name, undefined])));
    await expectReset();
  });

  it('takes names of attributes as the properties', async () => {
    // TypeScript does not check names with a hyphen in JSX.
    const named = { 'max-files': 3, 'upload-origins': 'https://a.example', 'data-x': '1' } as object;
    const element = await mount(named);
    expect([element.maxFiles, element.uploadOrigins]).to.deep.equal([3, 'https://a.example']);
    expect(element.dataset.x).to.equal('1');
    render({});
    expect(element.uploadOrigins).to.equal(document.createElement(TAG).uploadOrigins);
  });

  it('pauses when it is unmounted during an upload, and then calls no listener', async () => {
    const name = uniqueName();
    await addFault({ operation: 'put', match: { fileName: name }, delayMs: 60_000 });
    const received: string[] = [];
    const element = await mount({
      onUploadStarted: () => received.push('started'),
      onUploadPaused: () => received.push('paused'),
      onUploadFailed: () => received.push('failed'),
    });
    const paused = new Promise((resolve) => element.addEventListener('upload-paused', resolve));
    await element.addFiles(textFile(name));
    await until(async () => (await logOf({ fileName: name })).some(({ operation }) => operation === 'put'));
    flushSync(() => root?.unmount());
    expect([element.isConnected, ref.current]).to.deep.equal([false, null]);
    await paused;
    expect(received).to.deep.equal(['started']);
  });

  it('is sent by the action of a form, with the values of files that were uploading when the form was submitted', async () => {
    const sent = deferred<FormData>();
    const hashes: string[] = [];
    const form = (count: number): ReactNode =>
      createElement(
        'form',
        { action: (data: FormData) => sent.resolve(data) },
        createElement(SecureUploader, {
          ...{ ...settings, ref, name: 'documents', submitWhenDone: true },
          onUploadProgress: () => root?.render(form(count + 1)),
          onUploadCompleted: ({ detail }) => hashes.push(...detail.chunks.map(({ hash }) => hash)),
        }),
        createElement('button', { type: 'submit', name: 'send', value: String(count) }, 'Send'),
      );
    const container = document.createElement('div');
    document.body.append(container);
    root = createRoot(container);
    flushSync(() => root?.render(form(0)));
    await customElements.whenDefined(TAG);
    await ref.current?.addFiles(textFile(uniqueName()));
    container.querySelector('button')?.click();
    expect(hashes).to.deep.equal([]);
    const data = await sent.promise;
    expect(data.getAll('documents').map((value) => JSON.parse(String(value)).hashes)).to.deep.equal([hashes]);
    expect(data.get('send')).to.match(/^\d+$/);
  });
});

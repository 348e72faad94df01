// Which origins the engine and the element connect to before the first request. `test/e2e/transfer-preconnect.test.ts` shows that
// the browser opens these connections.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import type { SecureUploader } from '../../src/index.ts';
import { settled } from '../support/collect.ts';
import { type World, world } from '../support/world.ts';

const OTHERS = ['https://one.example', 'https://two.example'];

/** Calls `work`. Resolves with the origins of the connections that were requested meanwhile. */
async function originsDuring(work: () => unknown): Promise<string[]> {
  const found: HTMLLinkElement[] = [];
  const observer = new MutationObserver((records) =>
    found.push(...records.flatMap(({ addedNodes }) => [...addedNodes] as HTMLLinkElement[])),
  );
  observer.observe(document.head, { childList: true });
  await work();
  await settled();
  observer.disconnect();
  for (const link of found) {
    expect([link.rel, link.crossOrigin]).to.deep.equal(['preconnect', 'anonymous']);
    expect(link.isConnected).to.equal(false);
  }
  return found.map(({ href }) => new URL(href).origin);
}

describe('an engine', () => {
  it('connects to the service when it is created, and to the storage when files are added', async () => {
    let engine: World | undefined;
    expect(
      await originsDuring(() => {
        engine = world({ baseUrl: 'https://service.example/api', uploadOrigins: OTHERS });
      }),
    ).to.deep.equal(['https://service.example']);
    expect(await originsDuring(() => engine?.uploader.addFiles([]))).to.deep.equal(OTHERS);
    expect(await originsDuring(() => engine?.uploader.preconnect())).to.deep.equal([
      'https://service.example',
      ...OTHERS,
    ]);
  });

  it("does not connect to the page's own origin", async () => {
    const { origin } = location;
    expect(
      await originsDuring(() => world({ baseUrl: origin, uploadOrigins: [origin] }).uploader.preconnect()),
    ).to.deep.equal([]);
  });
});

describe('an element', () => {
  let element: SecureUploader;
  beforeEach(async () => {
    element = document.createElement('secure-uploader');
    Object.assign(element, { auth: 'none', parentId: 'a', noResume: true });
    document.body.append(element);
  });
  afterEach(() => element.remove());

  function drag(): void {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['a'], 'a.txt'));
    element.dispatchEvent(new DragEvent('dragenter', { dataTransfer }));
  }

  it('connects when files are dragged over it and when the picker opens', async () => {
    element.baseUrl = 'https://service.example';
    await element.updateComplete;
    const expected = ['https://service.example'];
    // The engine connects, too, when it is loaded.
    await element.clear();
    expect(await originsDuring(drag)).to.deep.equal(expected);
    element.renderRoot.addEventListener('click', (event) => event.preventDefault());
    expect(await originsDuring(() => element.browse())).to.deep.equal(expected);
  });

  it('connects to nothing while it has no base-url', async () => {
    await element.updateComplete;
    expect(await originsDuring(drag)).to.deep.equal([]);
  });
});

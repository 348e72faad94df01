// What the engine and the element prepare before the first request: connections and workers. `test/e2e/transfer-preconnect.test.ts`
// shows that the browser opens these connections.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import type { SecureUploader } from '../../src/index.ts';
import { fileOf } from '../support/bytes.ts';
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

/** Calls `work`. Resolves with the number of workers that were started meanwhile. */
async function workersDuring(work: () => unknown): Promise<number> {
  const { Worker } = globalThis;
  let count = 0;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      count += 1;
      super(url, options);
    }
  };
  try {
    await work();
    await settled();
  } finally {
    globalThis.Worker = Worker;
  }
  return count;
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

describe('an engine that prepares for files', () => {
  const preconnect = ({ uploader }: World): Promise<number> => workersDuring(() => uploader.preconnect());

  it('starts workers, which the first file uses', async () => {
    const engine = world({ answers: ['open', 'presign', 'put', 'commit'] });
    expect(await preconnect(engine)).to.equal(2);
    const more = await workersDuring(async () => {
      await engine.uploader.addFiles([fileOf(1, 2000, 'a.bin')]);
      await engine.waitForChange('upload-completed');
    });
    expect(more).to.equal(0);
  });

  it('asks for no token, and sends nothing', async () => {
    let asked = 0;
    const getToken = (): string => {
      asked += 1;
      return 'token';
    };
    const engine = world({ auth: 'auto', getToken });
    await preconnect(engine);
    expect(asked).to.equal(0);
    expect(engine.service.log).to.deep.equal([]);
  });

  it('starts no worker while it is suspended, or after it was closed', async () => {
    const engine = world();
    await engine.uploader.suspend();
    expect(await preconnect(engine)).to.equal(0);
    engine.uploader.restore();
    expect(await preconnect(engine)).to.equal(2);
    await engine.uploader.close();
    expect(await preconnect(engine)).to.equal(0);
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

  function drag(dragged: File | string = new File(['a'], 'a.txt')): void {
    const dataTransfer = new DataTransfer();
    if (typeof dragged === 'string') dataTransfer.items.add(dragged, 'text/plain');
    else dataTransfer.items.add(dragged);
    element.dispatchEvent(new DragEvent('dragenter', { dataTransfer }));
  }

  it('connects when files are dragged over it and when the picker opens', async () => {
    element.baseUrl = 'https://service.example';
    await element.updateComplete;
    const expected = ['https://service.example'];
    // The engine connects, too, when it is loaded.
    await element.clear();
    expect(await originsDuring(() => drag('a text'))).to.deep.equal([]);
    expect(await originsDuring(() => drag())).to.deep.equal(expected);
    element.renderRoot.addEventListener('click', (event) => event.preventDefault());
    expect(await originsDuring(() => element.browse())).to.deep.equal(expected);
  });

  it('starts workers when files are dragged over it and when the picker opens, and not for a text', async () => {
    element.baseUrl = 'https://service.example';
    await element.clear();
    expect(await workersDuring(() => drag('a text'))).to.equal(0);
    expect(await workersDuring(() => drag())).to.equal(2);
    element.remove();
    document.body.append(element);
    element.renderRoot.addEventListener('click', (event) => event.preventDefault());
    // Those of before are still there.
    expect(await workersDuring(() => element.browse())).to.equal(0);
  });

  it('connects to nothing while it has no base-url', async () => {
    await element.updateComplete;
    expect(await originsDuring(() => drag())).to.deep.equal([]);
  });
});

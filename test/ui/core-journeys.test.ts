// The core journeys of an upload, in a page of their own that can be reloaded, with the reference service. All browser engines run
// these tests in `npm run verify`. docs/browsers.md has a table of them.

import { expect, fixture, html } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { addFault, findReference, logOf, tokenOf, uniqueName } from '../service/reference.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { button, nextEvent, one, shown } from './support.ts';

type Scope = Window & typeof globalThis;

const CHUNK_BYTES = 65_536;
const CHUNK_COUNT = 12;

/** Opens the page with the element. `owner` separates its saved uploads from those of other tests. */
async function openPage() {
  const { baseUrl } = await findReference();
  const token = await tokenOf('alice');
  const frame = await fixture<HTMLIFrameElement>(
    html`<iframe title="page" width="600" height="600" src="/test/ui/fixtures/journey.html"></iframe>`,
  );
  const owner = crypto.randomUUID();
  const scope = (): Scope => frame.contentWindow as Scope;
  /** Resolves with the element when its page is loaded, after it has been set up. */
  async function ready(getToken: (reason: string) => string | Promise<string> = () => token) {
    const element = await shown(() => {
      const found = frame.contentDocument?.querySelector('secure-uploader');
      return found && scope().customElements?.get('secure-uploader') ? found : undefined;
    });
    Object.assign(element, { baseUrl, owner, getToken });
    await element.updateComplete;
    return element as SecureUploader;
  }
  /** Picks a file as the dialog of the browser does. */
  function pick(element: SecureUploader, bytes: Uint8Array<ArrayBuffer>, name: string): void {
    const { DataTransfer, Event, File } = scope();
    const data = new DataTransfer();
    data.items.add(new File([bytes], name, { lastModified: 1_700_000_000_000 }));
    const input = one<HTMLInputElement>(element, '#files');
    input.files = data.files;
    input.dispatchEvent(new Event('change'));
  }
  async function reload(): Promise<void> {
    const left = frame.contentDocument;
    scope().location.reload();
    await until(() => frame.contentDocument !== left && frame.contentDocument?.readyState === 'complete');
  }
  return { ready, pick, reload };
}

/** Returns a file name and bytes that no other test uses. */
const newFile = (chunkCount = CHUNK_COUNT): { name: string; bytes: Uint8Array<ArrayBuffer> } => ({
  name: uniqueName(),
  bytes: bytesOf(crypto.getRandomValues(new Uint32Array(1))[0] ?? 0, chunkCount * CHUNK_BYTES),
});

/** Resolves when `count` chunks are stored. */
function stored(element: SecureUploader, count: number): Promise<void> {
  let storedCount = 0;
  return new Promise((resolve) => {
    element.addEventListener('chunk-uploaded', () => {
      storedCount += 1;
      if (storedCount === count) resolve();
    });
  });
}

/** Asserts that the service has exactly these bytes. */
async function expectStored(commit: unknown, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const { baseUrl } = await findReference();
  const headers = { authorization: `Bearer ${await tokenOf('alice')}` };
  const response = await fetch(`${baseUrl}/files/${(commit as { file_id: string }).file_id}`, { headers });
  expect(await sha256(await response.blob())).to.equal(await sha256(bytes));
}

const countOf = async (fileName: string, operation: string): Promise<number> =>
  (await logOf({ fileName })).filter((entry) => entry.operation === operation && !entry.broken).length;

describe('The core journeys', () => {
  it('upload: a picked file is stored byte for byte', async () => {
    const page = await openPage();
    const element = await page.ready();
    const { name, bytes } = newFile();
    const completed = nextEvent(element, 'upload-completed');
    page.pick(element, bytes, name);
    const { detail } = await completed;
    expect(detail.chunks).to.have.length(CHUNK_COUNT);
    await expectStored(detail.commit, bytes);
    await shown(() => element.renderRoot.querySelector('.row.done'));
  });

  it('resume after a reload: the file is chosen again, and only missing chunks are sent', async () => {
    const page = await openPage();
    const { name, bytes } = newFile();
    const first = await page.ready();
    const some = stored(first, 5);
    page.pick(first, bytes, name);
    await some;
    await page.reload();
    const element = await page.ready();
    await until(() => element.snapshot.files[0]?.pauseReason === 'needs-file');
    const completed = nextEvent(element, 'upload-completed');
    page.pick(element, bytes, name);
    const { detail } = await completed;
    await expectStored(detail.commit, bytes);
    expect(await countOf(name, 'session')).to.equal(1);
    // The chunk that was being sent during the reload may be sent twice.
    expect(detail.skippedBytes).to.be.at.least(4 * CHUNK_BYTES);
    expect(await countOf(name, 'put')).to.be.at.most(CHUNK_COUNT + 1);
  });

  it('pause and resume, with the buttons of the row', async () => {
    const page = await openPage();
    const element = await page.ready();
    const { name, bytes } = newFile();
    const some = stored(element, 3);
    page.pick(element, bytes, name);
    await some;
    const paused = nextEvent(element, 'upload-paused');
    button(element, `Pause: ${name}`).click();
    expect((await paused).detail.reason).to.equal('user');
    const completed = nextEvent(element, 'upload-completed');
    (await shown(() => findButton(element, `Resume: ${name}`))).click();
    const { detail } = await completed;
    await expectStored(detail.commit, bytes);
    expect(await countOf(name, 'session')).to.equal(1);
  });

  it('expiry: an expired token and expired URLs are replaced', async () => {
    const page = await openPage();
    const reasons: string[] = [];
    const element = await page.ready((reason) => {
      reasons.push(reason);
      return tokenOf('alice', reasons.length === 1 ? 1 : undefined);
    });
    const { name, bytes } = newFile();
    await addFault({ operation: 'chunks', match: { fileName: name }, expireTickets: true });
    const completed = nextEvent(element, 'upload-completed');
    page.pick(element, bytes, name);
    const { detail } = await completed;
    await expectStored(detail.commit, bytes);
    expect(reasons).to.deep.equal(['first', 'rejected']);
    expect(await countOf(name, 'put')).to.be.greaterThan(CHUNK_COUNT);
  });

  it('error and retry: a failed file is retried with its button', async () => {
    const page = await openPage();
    const element = await page.ready();
    const { name, bytes } = newFile();
    await addFault({ operation: 'chunks', match: { fileName: name }, status: 403, body: {} });
    const failed = nextEvent(element, 'upload-failed');
    page.pick(element, bytes, name);
    expect((await failed).detail.code).to.equal('forbidden');
    const completed = nextEvent(element, 'upload-completed');
    (await shown(() => findButton(element, `Try again: ${name}`))).click();
    const { detail } = await completed;
    await expectStored(detail.commit, bytes);
  });
});

function findButton(element: SecureUploader, name: string): HTMLButtonElement | undefined {
  try {
    return button(element, name);
  } catch {
    return undefined;
  }
}

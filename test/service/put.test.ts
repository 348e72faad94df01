// Chunks sent to a storage on another origin: headers, responses, errors.

import { expect } from '@open-wc/testing';
import { isRetryable } from '../../src/core/error-codes.ts';
import type { UploaderError } from '../../src/core/errors.ts';
import type { Profile } from '../../src/core/read-profile.ts';
import type { TicketUpload } from '../../src/core/types.ts';
import { createPut } from '../../src/service/put.ts';
import { stopClock } from '../support/clock.ts';
import { rejection, until } from '../support/collect.ts';
import { addFault, callsOf, findReference, forever, logOf, randomChunk, uniqueName } from './reference.ts';

interface Sendable {
  readonly body: Blob;
  readonly hash: string;
  readonly upload: TicketUpload;
}

/** Returns a random chunk with its ticket. `fault` applies to the presign request. */
async function sendable(sizeBytes = 1000, fault?: Readonly<Record<string, unknown>>): Promise<Sendable> {
  const calls = await callsOf();
  const chunk = await randomChunk(sizeBytes);
  const fileName = uniqueName();
  const session = await calls.openSession({ parentId: 'folder-a', fileName, fileSize: sizeBytes }, forever);
  if (fault) await addFault({ operation: 'chunks', match: { fileName }, ...fault });
  const upload = (await calls.presign(session, [chunk], forever)).get(chunk.hash)?.upload;
  if (!upload) throw new Error('a new chunk has a URL');
  return { ...chunk, upload };
}

async function send(
  { upload, body }: Sendable,
  options: { signal?: AbortSignal; onProgress?: (sentBytes: number) => void; stallMs?: number } = {},
  statuses: Profile['putStatuses'] = {},
): Promise<void> {
  const put = createPut({ baseUrl: (await findReference()).baseUrl, statuses });
  return put(upload, body, { signal: forever, ...options });
}

async function refusalOf(fault: Readonly<Record<string, unknown>>, stallMs = 30_000): Promise<UploaderError> {
  const chunk = await sendable();
  // The fault lasts until the end of the test (`times: -1`), because browsers may retry a broken request automatically.
  await addFault({ operation: 'put', match: { hash: chunk.hash }, times: -1, ...fault });
  return rejection(send(chunk, { stallMs }));
}

const isStored = async ({ hash }: Sendable): Promise<boolean> =>
  (await logOf({ hash })).some(({ stored }) => stored === true);

describe('a chunk that is sent', () => {
  it('is stored, and reports its progress up to its last byte', async () => {
    const chunk = await sendable(2 ** 21);
    const progress: number[] = [];
    await send(chunk, { onProgress: (sentBytes) => progress.push(sentBytes) });
    expect(progress.at(-1)).to.equal(2 ** 21);
    expect(progress).to.deep.equal([...progress].sort((a, b) => a - b));
    expect(await isStored(chunk)).to.equal(true);
  });

  it('may take much longer than its stall limit while bytes move', async () => {
    const chunk = await sendable();
    const stallMs = 10_000;
    const { send: sendXhr } = XMLHttpRequest.prototype;
    let go: (() => void) | undefined;
    let xhr: XMLHttpRequest | undefined;
    XMLHttpRequest.prototype.send = function hold(this: XMLHttpRequest, body) {
      xhr = this;
      go = () => sendXhr.call(this, body);
    };
    const clock = stopClock();
    try {
      const sent = send(chunk, { stallMs });
      await until(() => xhr !== undefined);
      for (let loaded = 100; loaded < 1000; loaded += 100) {
        xhr?.upload.dispatchEvent(new ProgressEvent('progress', { loaded }));
        await clock.pass(0.9 * stallMs);
      }
      go?.();
      await sent;
    } finally {
      clock.restore();
      XMLHttpRequest.prototype.send = sendXhr;
    }
    expect(await isStored(chunk)).to.equal(true);
  });

  for (const [stallMs, patienceMs] of [
    [10_000, 40_000],
    [100_000, 120_000],
    [150_000, 150_000],
  ] as const)
    it(`with a stall limit of ${stallMs / 1000} s gets ${patienceMs / 1000} s if the browser delays it`, async () => {
      const chunk = await sendable();
      const { send: sendXhr } = XMLHttpRequest.prototype;
      let isHeldBack = false;
      XMLHttpRequest.prototype.send = () => {
        isHeldBack = true;
      };
      const clock = stopClock();
      try {
        const sent = rejection<UploaderError>(send(chunk, { stallMs }));
        await until(() => isHeldBack);
        let isOver = false;
        void sent.then(() => {
          isOver = true;
        });
        await clock.pass(patienceMs - 1);
        expect(isOver).to.equal(false);
        await clock.pass(1);
        expect(isOver).to.equal(true);
        expect(await sent).to.include({ code: 'upload-stalled' });
      } finally {
        clock.restore();
        XMLHttpRequest.prototype.send = sendXhr;
      }
    });

  it('carries no bearer, no cookie, no session and no content type of its own', async () => {
    const chunk = await sendable();
    await send({ ...chunk, body: new Blob([chunk.body], { type: 'text/x-secret' }) });
    const [entry] = await logOf({ hash: chunk.hash });
    expect(entry).to.include({ hasBearer: false, hasCookie: false, stored: true });
    expect(entry?.headers).not.to.include.members(['x-service-uploadsession']);
    expect(entry?.headers).not.to.include.members(['content-type']);
  });

  it('carries the headers of its ticket', async () => {
    const chunk = await sendable();
    const upload = { ...chunk.upload, headers: { 'Content-Type': 'application/octet-stream' } };
    await send({ ...chunk, upload });
    expect((await logOf({ hash: chunk.hash }))[0]?.headers).to.include('content-type');
  });

  it('goes only to a URL that is https or on this machine', async () => {
    const chunk = await sendable();
    const put = createPut({ baseUrl: 'https://service.example' });
    expect(await rejection(put(chunk.upload, chunk.body, { signal: forever }))).to.include({
      code: 'bad-response',
    });
    expect(await logOf({ hash: chunk.hash })).to.deep.equal([]);
  });
});

describe('an aborted chunk', () => {
  it('stops with the given reason, and nothing is stored', async () => {
    const chunk = await sendable(2 ** 20);
    await addFault({ operation: 'put', match: { hash: chunk.hash }, times: -1, stall: true });
    const stop = new AbortController();
    const reason = new Error('paused');
    const sent = send(chunk, { signal: stop.signal, onProgress: () => stop.abort(reason) });
    expect(await rejection(sent)).to.equal(reason);
    expect(await isStored(chunk)).to.equal(false);
  });

  it('is not started', async () => {
    const chunk = await sendable();
    const reason = new Error('paused');
    expect(await rejection(send(chunk, { signal: AbortSignal.abort(reason) }))).to.equal(reason);
    expect(await logOf({ hash: chunk.hash })).to.deep.equal([]);
  });
});

describe('a chunk that fails', () => {
  it('because its URL expired says so if the ticket has its expiry, and is refused otherwise', async () => {
    const silent = await sendable(1000, { expireTickets: true });
    expect(silent.upload.expiresAtMs).to.equal(undefined);
    expect(await rejection(send(silent))).to.include({ code: 'upload-refused', status: 403 });
    const upload = { ...silent.upload, expiresAtMs: performance.now() - 1 };
    expect(await rejection(send({ ...silent, upload }))).to.include({ code: 'ticket-expired', status: 403 });
  });

  it('because the storage has other bytes says so', async () => {
    const chunk = await sendable(1000, { wrongTicket: true });
    expect(await rejection(send(chunk))).to.include({ code: 'hash-mismatch', status: 400 });
    expect(await isStored(chunk)).to.equal(false);
  });

  it('by an error of the storage has its status', async () => {
    expect(await refusalOf({ status: 400 })).to.include({ code: 'upload-refused', status: 400 });
    expect(await refusalOf({ status: 401 })).to.include({ code: 'upload-refused', status: 401 });
    expect(await refusalOf({ status: 404 })).to.include({ code: 'upload-refused', status: 404 });
    expect(await refusalOf({ status: 412 })).to.include({ code: 'upload-refused', status: 412 });
    expect(await refusalOf({ status: 408 })).to.include({ code: 'service-failed', status: 408 });
    expect(await refusalOf({ status: 500 })).to.include({ code: 'service-failed', status: 500 });
  });

  it("is classified by the page's mapping of statuses", async () => {
    const answered = async (
      status: number,
      statuses: Profile['putStatuses'],
      fault: Readonly<Record<string, unknown>> = {},
    ): Promise<UploaderError | undefined> => {
      const chunk = await sendable();
      await addFault({ operation: 'put', match: { hash: chunk.hash }, times: -1, status, ...fault });
      return send(chunk, {}, statuses).then(
        () => undefined,
        (error: UploaderError) => error,
      );
    };
    expect(await answered(412, { 412: 'stored' })).to.equal(undefined);
    expect(await answered(409, { 409: 'retry' })).to.include({ code: 'service-failed', status: 409 });
    expect(await answered(420, { 420: 'slow-down' })).to.include({ code: 'rate-limited', status: 420 });
    expect(await answered(500, { 500: 'refused' })).to.include({ code: 'upload-refused', status: 500 });
    expect(await answered(204, { 204: 'refused' })).to.include({ code: 'upload-refused', status: 204 });
  });

  it('because the storage is busy waits for the Retry-After, if the page may read it', async () => {
    const headers = { 'retry-after': '2' };
    const hidden = await refusalOf({ status: 429, headers });
    expect(hidden).to.include({ code: 'rate-limited', status: 429 });
    expect(hidden.retryAfterMs).to.equal(undefined);
    const exposed = { ...headers, 'access-control-expose-headers': 'Retry-After' };
    expect(await refusalOf({ status: 503, headers: exposed })).to.include({
      code: 'rate-limited',
      retryAfterMs: 2000,
    });
  });

  it('because the connection breaks, or CORS forbids reading, is a network error', async () => {
    expect(await refusalOf({ cut: 'before-body' })).to.include({ code: 'network' });
    expect(await refusalOf({ cut: 'mid-body' })).to.include({ code: 'network' });
    expect(await refusalOf({ cut: 'after-body' })).to.include({ code: 'network' });
    expect(await refusalOf({ status: 403, withoutCors: true })).to.include({ code: 'network' });
  });

  it('because it was redirected is rejected, even if the other URL succeeds', async () => {
    const elsewhere = await sendable();
    const chunk = await sendable();
    await addFault({ operation: 'put', match: { hash: elsewhere.hash }, times: -1, storeNothing: true });
    await addFault({
      operation: 'put',
      match: { hash: chunk.hash },
      times: -1,
      redirect: elsewhere.upload.url,
    });
    expect(await rejection(send(chunk))).to.include({ code: 'upload-refused', status: 200 });
  });

  it('because no bytes move has stalled', async () => {
    expect(await refusalOf({ stall: true }, 50)).to.include({ code: 'upload-stalled' });
    expect(await refusalOf({ delayMs: 5000 }, 50)).to.include({ code: 'upload-stalled' });
  });

  it('because the browser aborted it, without a request of ours, is a network error', async () => {
    const chunk = await sendable();
    const { send: sendXhr } = XMLHttpRequest.prototype;
    XMLHttpRequest.prototype.send = function abort(this: XMLHttpRequest) {
      this.dispatchEvent(new ProgressEvent('abort'));
    };
    try {
      const error = await rejection<UploaderError>(send(chunk, { stallMs: 50 }));
      expect(error.code).to.equal('network');
      expect(isRetryable(error)).to.equal(true);
    } finally {
      XMLHttpRequest.prototype.send = sendXhr;
    }
  });

  it('with a long response body still has its status', async () => {
    expect(await refusalOf({ status: 500, body: 'x'.repeat(500_000) })).to.include({ status: 500 });
  });

  it('never has its URL in the error', async () => {
    const chunk = await sendable(1000, { wrongTicket: true });
    const error = await rejection<UploaderError>(send(chunk));
    expect(`${error.message} ${JSON.stringify(error)}`).not.to.match(/https?:/);
  });
});

// Requests of the client to the reference service, which has another origin than the page.

import { expect } from '@open-wc/testing';
import { isCallRetryable } from '../../src/core/error-codes.ts';
import type { UploaderError } from '../../src/core/errors.ts';
import type { Calls } from '../../src/core/types.ts';
import { createCalls } from '../../src/service/client.ts';
import type { HttpOptions } from '../../src/service/http.ts';
import { createPut } from '../../src/service/put.ts';
import { deferred, rejection } from '../support/collect.ts';
import {
  addFault,
  callsOf,
  forever,
  logOf,
  openSession as open,
  randomChunk,
  referenceSettings,
  uniqueName,
  withToken,
} from './reference.ts';

async function refusalOf(
  fault: Readonly<Record<string, unknown>>,
  options: HttpOptions = {},
): Promise<UploaderError> {
  const fileName = uniqueName();
  await addFault({ operation: 'session', match: { fileName }, times: -1, ...fault });
  return rejection(open(await callsOf('alice', {}, options), fileName));
}

describe('an upload', () => {
  it('is opened, presigned, sent and committed, and a second commit gets the same response', async () => {
    const calls = await callsOf();
    const settings = await referenceSettings();
    const chunk = await randomChunk();
    const fileName = uniqueName();
    const session = await open(calls, fileName);
    const ticket = (await calls.presign(session, [chunk], forever)).get(chunk.hash);
    expect(new URL(ticket?.upload?.url ?? '').origin).not.to.equal(settings.baseUrl);
    expect(ticket?.upload?.expiresAtMs).to.be.greaterThan(performance.now());
    if (!ticket?.upload) throw new Error('a new chunk has a URL');
    await createPut(settings)(ticket.upload, chunk.body, { signal: forever });
    const proof = { hashes: [chunk.hash], receipts: [ticket.receipt] };
    const first = await calls.commit?.(session, proof, forever);
    expect(first?.missing).to.deep.equal([]);
    expect(first?.body).to.include({ file_name: fileName, file_size: 1000 });
    expect(await calls.commit?.(session, proof, forever)).to.deep.equal(first);
  });

  it('does not send a chunk again that the same user has stored', async () => {
    const calls = await callsOf();
    const chunk = await randomChunk();
    const session = await open(calls, uniqueName());
    const ticket = (await calls.presign(session, [chunk], forever)).get(chunk.hash);
    if (!ticket?.upload) throw new Error('a new chunk has a URL');
    await createPut(await referenceSettings())(ticket.upload, chunk.body, { signal: forever });
    const again = await calls.presign(session, [chunk], forever);
    expect(again.get(chunk.hash)).to.have.all.keys('receipt');
  });

  it('gets the chunks that the service lacks from the commit', async () => {
    const calls = await callsOf();
    const chunk = await randomChunk();
    const session = await open(calls, uniqueName());
    const ticket = (await calls.presign(session, [chunk], forever)).get(chunk.hash);
    const proof = { hashes: [chunk.hash], receipts: [ticket?.receipt ?? ''] };
    expect(await calls.commit?.(session, proof, forever)).to.deep.equal({ missing: [chunk.hash] });
  });

  it('sends exactly the fields of the interface, the bearer and the session header, and no cookie', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    const session = await open(calls, fileName);
    await calls.presign(session, [await randomChunk()], forever);
    const [opened, presigned] = await logOf({ fileName });
    expect(opened?.fields).to.deep.equal(['parent_id', 'file_name', 'file_size']);
    expect(presigned?.fields).to.deep.equal(['hashes']);
    expect(presigned?.headers).to.include('x-service-uploadsession');
    expect([opened?.hasBearer, presigned?.hasBearer]).to.deep.equal([true, true]);
    expect([opened?.hasCookie, presigned?.hasCookie]).to.deep.equal([false, false]);
    expect(presigned?.headers).not.to.include('referer');
  });

  it('sends its name in composed form (NFC)', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    await open(calls, `u\u0308${fileName}`);
    expect(await logOf({ fileName: `ü${fileName}` })).to.have.length(1);
  });

  it('sends its commit after `onSend` has resolved', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    const session = await open(calls, fileName, { fileSize: 0 });
    const asked = deferred<void>();
    const saved = deferred<void>();
    const onSend = (): Promise<void> => {
      asked.resolve();
      return saved.promise;
    };
    const committed = calls.commit?.(session, { hashes: [], receipts: [] }, forever, { onSend });
    await asked.promise;
    // The same service has answered a later request.
    await open(calls, uniqueName());
    const operations = async (): Promise<unknown> =>
      (await logOf({ fileName })).map(({ operation }) => operation);
    expect(await operations()).to.deep.equal(['session']);
    saved.resolve();
    await committed;
    expect(await operations()).to.deep.equal(['session', 'commit']);
  });

  it('can be canceled, after which its session does not exist', async () => {
    const calls = await callsOf();
    const session = await open(calls, uniqueName());
    await calls.cancel?.(session, forever);
    await calls.cancel?.(session, forever);
    const error = await rejection<UploaderError>(calls.presign(session, [await randomChunk()], forever));
    expect(error).to.include({ code: 'session-expired', status: 410 });
  });

  it('is canceled if its session is gone, and not if the service refuses', async () => {
    const calls = await callsOf();
    const cancel = async (status: number): Promise<void> => {
      const fileName = uniqueName();
      const session = await open(calls, fileName);
      await addFault({ operation: 'cancel', match: { fileName }, status });
      return calls.cancel?.(session, forever);
    };
    await cancel(404);
    await cancel(410);
    const error = await rejection(cancel(403));
    expect(error).to.include({ code: 'forbidden', status: 403 });
    expect(error.message).to.include('cancel');
  });

  it('is not done because a proxy responded to its commit with an HTML page', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    const session = await open(calls, fileName, { fileSize: 0 });
    const proof = { hashes: [], receipts: [] };
    const match = { fileName };
    await addFault({ operation: 'commit', match, status: 200, body: '<!doctype html>' });
    expect(await rejection(calls.commit?.(session, proof, forever) as Promise<unknown>)).to.include({
      code: 'bad-response',
    });
    await addFault({ operation: 'commit', match, status: 204 });
    expect(await calls.commit?.(session, proof, forever)).to.deep.equal({ missing: [] });
  });

  it('is neither committed nor canceled if the page sets no path for it', async () => {
    const calls = await callsOf('alice', { commitPath: undefined, cancelPath: undefined });
    expect(calls).to.have.all.keys('openSession', 'presign');
  });
});

describe('the response with the URLs of chunks', () => {
  it('is read up to 1 MiB, and 16 KiB for each chunk', async () => {
    const calls = createCalls(await referenceSettings(), withToken('token'));
    const chunk = await randomChunk();
    const session = { sessionId: 's', header: 'h' };
    const { fetch } = globalThis;
    try {
      for (const [sizeBytes, message] of [
        [2 ** 20 + 16_384, 'no chunks'],
        [2 ** 20 + 16_385, 'larger than'],
      ] as const) {
        globalThis.fetch = async () => new Response('x'.repeat(sizeBytes));
        const error = await rejection(calls.presign(session, [chunk], forever));
        expect(error.message).to.include(message);
      }
    } finally {
      globalThis.fetch = fetch;
    }
  });
});

describe('an error response', () => {
  it('to a token is classified by its status, so that the token can be renewed', async () => {
    const calls = createCalls(await referenceSettings(), withToken('not-a-token'));
    const error = await rejection<UploaderError>(open(calls, uniqueName()));
    expect(error).to.include({ code: 'token-rejected', status: 401 });
    expect(error.cause)
      .to.have.property('wwwAuthenticate')
      .that.matches(/^Bearer/);
    expect(JSON.stringify(error)).not.to.include('not-a-token');
  });

  it('without any token is the same, and the request has no header for one', async () => {
    const calls = createCalls(await referenceSettings(), withToken(undefined));
    const fileName = uniqueName();
    expect(await rejection(open(calls, fileName))).to.include({ code: 'token-rejected', status: 401 });
    expect((await logOf({ fileName }))[0]?.hasBearer).to.equal(false);
  });

  it('for a folder is final, whether the user has no access or the folder does not exist', async () => {
    const closed = await rejection<UploaderError>(
      open(await callsOf('vic'), uniqueName(), { parentId: 'folder-b' }),
    );
    expect(closed).to.include({ code: 'forbidden', status: 403 });
    expect(closed.debugInfo).to.be.a('string');
    expect(isCallRetryable(closed)).to.equal(false);
    const absent = await rejection(open(await callsOf(), uniqueName(), { parentId: 'folder-none' }));
    expect(absent).to.include({ code: 'forbidden', status: 404 });
  });

  it('for a file that is too large has its own code', async () => {
    const request = open(await callsOf(), uniqueName(), { parentId: 'folder-small', fileSize: 2 ** 21 });
    expect(await rejection(request)).to.include({ code: 'file-too-large', status: 413 });
  });

  it('for a name that exists has its own code', async () => {
    const error = await refusalOf({ status: 409 });
    expect(error).to.include({ code: 'name-taken', status: 409 });
  });

  it('for a batch that is too large or invalid is not retried unchanged', async () => {
    const calls = await callsOf();
    const session = await open(calls, uniqueName());
    const many = Array.from({ length: 101 }, (_, at) => ({
      hash: at.toString(16).padStart(64, '0'),
      sizeBytes: 1,
    }));
    const tooMany = await rejection<UploaderError>(calls.presign(session, many, forever));
    expect(tooMany).to.include({ code: 'upload-refused', status: 413 });
    const wrong = await rejection<UploaderError>(
      calls.presign(session, [{ hash: 'x', sizeBytes: 1 }], forever),
    );
    expect(wrong).to.include({ code: 'upload-refused', status: 400 });
    expect([tooMany, wrong].some(isCallRetryable)).to.equal(false);
  });

  it('for a session that does not exist, or belongs to another user, has its own code', async () => {
    const chunk = await randomChunk();
    const made = { sessionId: 's', header: 'not-a-passport' };
    const none = await rejection((await callsOf()).presign(made, [chunk], forever));
    expect(none).to.include({ code: 'session-expired', status: 404 });
    const session = await open(await callsOf('alice'), uniqueName());
    const stolen = await rejection((await callsOf('vic')).presign(session, [chunk], forever));
    expect(stolen).to.include({ code: 'forbidden', status: 403 });
  });

  it('keeps its message for developers, truncated', async () => {
    const error = await refusalOf({ status: 422, body: { debuginfo: 'x'.repeat(2000) } });
    expect(error).to.include({ code: 'upload-refused', status: 422 });
    expect(error.debugInfo).to.have.length(500);
    expect(error.message).not.to.include('xxx');
  });

  it('with a delay has that in seconds, as a date or in the body, and five minutes at most', async () => {
    const waitOf = async (fault: Readonly<Record<string, unknown>>): Promise<number | undefined> => {
      const error = await refusalOf(fault);
      expect(error.code).to.equal('rate-limited');
      return error.retryAfterMs;
    };
    expect(await waitOf({ status: 429, headers: { 'retry-after': '3' } })).to.equal(3000);
    expect(await waitOf({ status: 503, headers: { 'retry-after': '86400' } })).to.equal(300_000);
    expect(await waitOf({ status: 429, body: { retry_after: 2 } })).to.equal(2000);
    expect(await waitOf({ status: 429 })).to.equal(undefined);
    expect(await waitOf({ status: 429, headers: { 'retry-after': 'soon' } })).to.equal(undefined);
    const headers = { date: 'Tue, 03 Feb 2026 10:00:00 GMT', 'retry-after': 'Tue, 03 Feb 2026 10:00:20 GMT' };
    expect(await waitOf({ status: 503, headers })).to.equal(20_000);
  });

  it('of the server is retried', async () => {
    const error = await refusalOf({ status: 500 });
    expect(error).to.include({ code: 'service-failed', status: 500 });
    expect(isCallRetryable(error)).to.equal(true);
    expect(await refusalOf({ status: 408 })).to.include({ code: 'service-failed', status: 408 });
  });

  it('is classified by the profile if the service uses statuses differently', async () => {
    const fileName = uniqueName();
    await addFault({ operation: 'session', match: { fileName }, times: -1, status: 419 });
    const profile = { statuses: { 419: 'token' } } as const;
    expect(await rejection(open(await callsOf('alice', { profile }), fileName))).to.include({
      code: 'token-rejected',
      status: 401,
    });
  });

  it('to a token without the scope does not request a new one', async () => {
    const headers = { 'www-authenticate': 'Bearer error="insufficient_scope"' };
    expect(await refusalOf({ status: 401, headers })).to.include({ code: 'forbidden', status: 403 });
  });
});

describe('an invalid response', () => {
  it('is a bad response if it is HTML, broken JSON or lacks fields', async () => {
    for (const body of [
      '<!doctype html><p>Welcome',
      '{"session_id": "s',
      {},
      { session_id: '' },
      { session_id: 7 },
    ]) {
      expect(await refusalOf({ status: 200, body })).to.include({ code: 'bad-response', status: 200 });
    }
  });

  it('is a bad response if a chunk is missing: a gap is never treated as stored', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    const session = await open(calls, fileName);
    const chunks = [await randomChunk(), await randomChunk()];
    await addFault({ operation: 'chunks', match: { fileName }, omitEntry: true });
    expect(await rejection(calls.presign(session, chunks, forever))).to.include({ code: 'bad-response' });
    expect(await calls.presign(session, chunks, forever)).to.have.all.keys(chunks.map(({ hash }) => hash));
  });

  it('is a network error if the connection breaks, or CORS forbids reading', async () => {
    expect(await refusalOf({ cut: 'before-body' })).to.include({ code: 'network' });
    expect(await refusalOf({ cut: 'mid-body' })).to.include({ code: 'network' });
    expect(await refusalOf({ withoutCors: true })).to.include({ code: 'network' });
  });

  it('is not followed if it redirects', async () => {
    const { baseUrl } = await referenceSettings();
    const fileName = uniqueName();
    const redirect = `${baseUrl}/files/uploadsession?elsewhere`;
    await addFault({ operation: 'session', match: { fileName }, redirect });
    expect(await rejection(open(await callsOf(), fileName))).to.include({ code: 'bad-response' });
    expect(await logOf({ fileName })).to.have.length(1);
  });

  it('is a timeout if it does not arrive, or stops halfway', async () => {
    expect(await refusalOf({ delayMs: 5000 }, { timeoutMs: 100 })).to.include({ code: 'timeout' });
    expect(await refusalOf({ stall: true }, { timeoutMs: 300 })).to.include({ code: 'timeout' });
  });

  it('to a commit may take ten times as long, because the service may assemble the file first', async () => {
    const fileName = uniqueName();
    const session = await open(await callsOf(), fileName);
    const proof = { hashes: [], receipts: [] };
    const calls = await callsOf('alice', {}, { timeoutMs: 1000 });
    await addFault({ operation: 'commit', match: { fileName }, delayMs: 2000 });
    const commitWith = (calls: Calls): Promise<Error> =>
      rejection(calls.commit?.(session, proof, forever) ?? Promise.resolve());
    // The reference service refuses a commit without chunks, but only after the delay.
    expect(await commitWith(calls)).to.include({ status: 422 });
    await addFault({ operation: 'commit', match: { fileName }, delayMs: 5000 });
    expect(await commitWith(await callsOf('alice', {}, { timeoutMs: 50 }))).to.include({ code: 'timeout' });
  });

  it('is no error at all after an abort', async () => {
    const fileName = uniqueName();
    await addFault({ operation: 'session', match: { fileName }, delayMs: 5000 });
    const calls = await callsOf();
    const stop = new AbortController();
    const reason = new Error('paused');
    const request = calls.openSession({ parentId: 'folder-a', fileName, fileSize: 1 }, stop.signal);
    stop.abort(reason);
    expect(await rejection(request)).to.equal(reason);
    expect(
      await rejection(calls.openSession({ parentId: 'folder-a', fileName, fileSize: 1 }, stop.signal)),
    ).to.equal(reason);
  });
});

// Sessions and tokens of calls that share requests (`batch-path`, U22): no session is lost, and no file takes the token from
// others.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { HashOfChunk, Session, WithToken } from '../../src/core/types.ts';
import { deferred, rejection, settled, until } from '../support/collect.ts';
import { chunkOf, type Fields, hashOf, type Said, scripted, ticketFor } from './batching.ts';
import { forever } from './reference.ts';

describe('the session of a batch', () => {
  for (const [what, chunks] of Object.entries({
    'no entry': {},
    null: null,
    'an entry without a receipt': { [hashOf('a')]: { upload_url: 'https://store.test/a' } },
    'an unsafe URL': { [hashOf('a')]: { upload_url: 'javascript:alert(1)', receipt: 'r' } },
    'a URL of the page': { [hashOf('a')]: { upload_url: `${origin}/a`, receipt: 'r' } },
    'a header that is not allowed': {
      [hashOf('a')]: { ...ticketFor('a'), headers: { authorization: 'x' } },
    },
  }))
    it(`stays known if its chunks have ${what}: a presign request tells what is wrong`, async () => {
      const { calls, openInBatch, paths, says } = scripted();
      const { openInBatch: asUsual } = says;
      says.openInBatch = (file, opened) =>
        file.file_name === 'a'
          ? { status: 201, body: { ...(opened.body as object), chunks } }
          : asUsual(file, opened);
      const [a, b] = (await openInBatch('a', 'b')) as [Session, Session];
      expect(calls.takeTickets?.(a, [chunkOf('a')])).to.equal(undefined);
      expect(calls.takeTickets?.(b, [chunkOf('b')])?.size).to.equal(1);
      expect(paths()).to.deep.equal(['batch']);
      expect((await calls.presign(a, [chunkOf('a')], forever)).size).to.equal(1);
      expect(paths()).to.deep.equal(['batch', 'chunks']);
    });

  it('without `chunks` is presigned by itself', async () => {
    const { calls, openInBatch, paths, says } = scripted();
    says.openInBatch = (_, { status, body }) => ({ status, body });
    const [session] = (await openInBatch('a')) as [Session];
    expect(calls.takeTickets?.(session, [chunkOf('a')])).to.equal(undefined);
    expect((await calls.presign(session, [chunkOf('a')], forever)).size).to.equal(1);
    expect(paths()).to.deep.equal(['batch', 'chunks']);
  });

  it('has tickets that expire, like those of a presign request', async () => {
    const { calls, openInBatch, says } = scripted();
    says.openInBatch = (_, { status, body }) => ({
      status,
      body: {
        ...(body as object),
        chunks: {
          [hashOf('a')]: { ...ticketFor('a'), expires_at: new Date(Date.now() + 60_000).toISOString() },
        },
      },
    });
    const [session] = (await openInBatch('a')) as [Session];
    const upload = calls.takeTickets?.(session, [chunkOf('a')])?.get(hashOf('a'))?.upload;
    expect(upload?.expiresAtMs).to.be.within(performance.now() + 50_000, performance.now() + 60_000);
    expect(upload?.receivedAtMs).to.be.at.most(performance.now());
  });

  it('is canceled if its file no longer needs it, and those of the others are not', async () => {
    const { open, openInBatch, paths, says, sent } = scripted();
    await openInBatch('a');
    const gate = deferred<void>();
    const { batch } = says;
    says.batch = async (...given) => {
      await gate.promise;
      return batch(...given);
    };
    const controller = new AbortController();
    const left = rejection(open('left', undefined, controller.signal));
    const waited = rejection(open('b', Promise.resolve([chunkOf('b')]), controller.signal));
    const other = open('other');
    await until(() => paths().filter((path) => path === 'batch').length === 2);
    controller.abort('paused');
    expect([await left, await waited]).to.deep.equal(['paused', 'paused']);
    gate.resolve();
    const session = await other;
    await until(() => paths().filter((path) => path === 'cancel').length === 2);
    const canceled = sent.filter(({ path }) => path === '/cancel').map((request) => request.session);
    expect(canceled).to.have.length(2);
    expect(canceled).not.to.include(session.header);
  });

  it('is not requested for a file that is aborted while its batch waits', async () => {
    const { open, openInBatch, says, sent } = scripted();
    await openInBatch('a');
    const gate = deferred<Said>();
    says.batch = () => gate.promise;
    const running = ['b', 'c'].map((name) => open(name));
    await settled();
    const controller = new AbortController();
    const hashing = deferred<readonly HashOfChunk[]>();
    hashing.promise.catch(() => undefined);
    const left = rejection(open('left', hashing.promise, controller.signal));
    controller.abort('canceled');
    hashing.reject(new DOMException('stopped', 'AbortError'));
    expect(await left).to.equal('canceled');
    gate.resolve({ status: 404 });
    await Promise.all(running);
    expect(sent.map(({ body }) => JSON.stringify(body)).join()).not.to.contain('left');
  });
});

describe('a batch whose token is refused', () => {
  it('is repeated with the new token, for each of its files', async () => {
    let token = 'old';
    const asUser: WithToken = async (call) => {
      try {
        return await call(token);
      } catch (error) {
        if (!(error instanceof UploaderError) || error.code !== 'token-rejected') throw error;
        token = 'new';
        return call(token);
      }
    };
    const { openInBatch, says, sent } = scripted({}, asUser);
    const { batch } = says;
    says.batch = (...given) => (token === 'old' ? { status: 401 } : batch(...given));
    const { open } = says;
    let openedCount = 0;
    says.open = () => {
      openedCount += 1;
      return token === 'old' && openedCount > 1 ? { status: 401 } : open();
    };
    expect(await openInBatch('a', 'b', 'c')).to.have.length(3);
    const countOf = (body: Fields): number => (body.open as unknown[] | undefined)?.length ?? 1;
    expect(sent.map(({ token: used, body }) => [used, countOf(body)])).to.deep.equal([
      ['Bearer old', 3],
      ['Bearer old', 1],
      ['Bearer new', 1],
      ['Bearer new', 2],
    ]);
  });

  it('does not stand for a single file: that one is asked alone', async () => {
    const { openInBatch, paths, says } = scripted();
    const { openInBatch: asUsual } = says;
    says.openInBatch = (file, opened) =>
      file.file_name === 'a' ? { status: 401, body: {} } : asUsual(file, opened);
    expect(await openInBatch('a', 'b')).to.have.length(2);
    expect(paths()).to.deep.equal(['batch', 'uploadsession']);
  });
});

describe('batch-path', () => {
  for (const batchPath of ['https://other.test/batch', '/../batch'])
    it(`may not lead out of base-url: ${batchPath}`, async () => {
      const { open, openInBatch, sent } = scripted({ baseUrl: 'https://service.test/api', batchPath });
      await openInBatch();
      const error = await rejection<UploaderError>(open('a'));
      expect(error.code).to.equal('bad-config');
      expect(sent).to.deep.equal([]);
    });
});

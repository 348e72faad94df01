// Calls of small files that share requests (`batch-path`, U22): each file gets what a single call would give it.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { HashOfChunk, Session } from '../../src/core/types.ts';
import { deferred, rejection, settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { chunkOf, type Fields, hashOf, type Said, scripted, ticketFor } from './batching.ts';
import { forever } from './reference.ts';

describe('small files', () => {
  it('are opened with their tickets in one request, and committed in one', async () => {
    const { calls, commit, openInBatch, paths, sent } = scripted();
    const sessions = await openInBatch('a', 'b');
    const tickets = sessions.map((session, at) =>
      calls.takeTickets?.(session, [chunkOf('ab'[at] as string)]),
    );
    expect(tickets.map((each) => [...(each?.keys() ?? [])])).to.deep.equal([[hashOf('a')], [hashOf('b')]]);
    expect(tickets[1]?.get(hashOf('b'))?.upload?.url).to.equal(`https://store.test/${hashOf('b')}`);
    await Promise.all(sessions.map((session, at) => commit(session, 'ab'[at] as string)));
    expect(paths()).to.deep.equal(['batch', 'batch']);
    expect(sent[0]?.body).to.deep.equal({
      open: ['a', 'b'].map((name) => ({
        parent_id: 'folder',
        file_name: name,
        file_size: 5,
        hashes: [hashOf(name)],
      })),
    });
    expect(sent[1]?.body).to.deep.equal({
      commit: ['a', 'b'].map((name, at) => ({
        session: sessions[at]?.header,
        hashes: [hashOf(name)],
        receipts: ['receipt'],
      })),
    });
    // The session of one file must not be that of the request.
    expect(sent.map(({ token, session }) => [token, session])).to.deep.equal([
      ['Bearer token', null],
      ['Bearer token', null],
    ]);
  });

  it('commit the first one alone, and the others wait for it, if no batch has opened a session', async () => {
    const { commit, openInBatch, paths, says, sent } = scripted();
    await openInBatch();
    const gate = deferred<Said>();
    says.commit = () => gate.promise as never;
    const session = { sessionId: 'of an earlier visit', header: 'earlier' };
    const committed = Promise.all(['a', 'b', 'c'].map((name) => commit(session, name)));
    await settled();
    expect(paths()).to.deep.equal(['commit']);
    says.commit = () => ({ status: 200, body: { file_id: 'file' } });
    gate.resolve(says.commit());
    await committed;
    expect(paths()).to.deep.equal(['commit', 'batch']);
    expect(sent[1]?.body.commit).to.have.length(2);
  });

  it('commit in batches while the first commit runs alone, once a batch has opened sessions', async () => {
    const { commit, open, openInBatch, paths, says } = scripted();
    await openInBatch();
    const first = await open('first of all');
    const gate = deferred<Said>();
    const { commit: usual } = says;
    says.commit = () => gate.promise as never;
    const committing = commit(first, 'first of all');
    await settled();
    says.commit = usual;
    const waiting = commit(first, 'waiting');
    const [a] = (await Promise.all(['a', 'b'].map((name) => open(name)))) as [Session];
    await Promise.all([waiting, commit(a, 'a')]);
    gate.resolve({ status: 403, body: { debuginfo: 'not this one' } });
    expect((await rejection<UploaderError>(committing)).code).to.equal('forbidden');
    await commit(a, 'a');
    expect(paths().filter((path) => path === 'commit')).to.have.length(1);
  });

  it('commit the next one alone after a batch of commits has failed, although batches open sessions', async () => {
    const { commit, open, openInBatch, paths, says } = scripted();
    const [a] = (await openInBatch('a')) as [Session];
    const { batch } = says;
    says.batch = (files, kind) => (kind === 'commit' ? { status: 500 } : batch(files, kind));
    await rejection(commit(a, 'a'));
    await open('b');
    await commit(a, 'a');
    expect(paths()).to.deep.equal(['batch', 'batch', 'batch', 'commit']);
  });

  it('open and commit alone once either kind of batch is unknown', () =>
    captureWarnings(async (warned) => {
      for (const unknown of ['open', 'commit']) {
        const { commit, open, openInBatch, paths, says } = scripted();
        const { batch } = says;
        says.batch = (files, kind) => (kind === unknown ? { status: 404 } : batch(files, kind));
        const [a] = (await openInBatch('a')) as [Session];
        await commit(a, 'a');
        await open('b');
        await commit(a, 'a');
        expect(paths()).to.deep.equal(
          unknown === 'open'
            ? ['batch', 'uploadsession', 'commit', 'uploadsession', 'commit']
            : ['batch', 'batch', 'commit', 'uploadsession', 'commit'],
        );
      }
      expect(warned).to.have.length(1);
    }));

  it('get their tickets once from the batch', async () => {
    const { calls, openInBatch } = scripted();
    const [session] = (await openInBatch('a')) as [Session];
    expect(calls.takeTickets?.(session, [chunkOf('a')])?.size).to.equal(1);
    expect(calls.takeTickets?.(session, [chunkOf('a')])).to.equal(undefined);
  });

  it('get no tickets from the batch for other chunks', async () => {
    const { calls, openInBatch } = scripted();
    const [session] = (await openInBatch('a')) as [Session];
    expect(calls.takeTickets?.(session, [chunkOf('other')])).to.equal(undefined);
  });

  it('go alone from then on if the answers are in another order: each would be uploaded as another file', () =>
    captureWarnings(async (warned) => {
      const { commit, open, openInBatch, paths, says } = scripted();
      const { batch } = says;
      says.batch = async (...given) => {
        const said = await batch(...given);
        const { answers } = said.body as { readonly answers: readonly object[] };
        return { ...said, body: { answers: answers.toReversed() } };
      };
      const sessions = await openInBatch('a', 'b', 'c');
      expect(paths()).to.deep.equal(['batch', ...Array(3).fill('uploadsession')]);
      expect(new Set(sessions.map(({ header }) => header)).size).to.equal(3);
      await Promise.all([open('d'), commit(sessions[0] as Session, 'a')]);
      expect(paths().slice(4)).to.have.members(['uploadsession', 'commit']);
      expect(warned).to.have.length(1);
      expect(warned[0]).to.contain('order');
    }));

  it('are sent as the profile says: encoding of hashes, sizes, fields, keys and headers of chunks', async () => {
    const { calls, openInBatch, says, sent } = scripted({
      profile: {
        hashEncoding: 'base64',
        sendSizes: true,
        sessionFields: ({ name }) => ({ label: name.toUpperCase() }),
        sessionHeader: ({ body }) => String((body as Fields).session_id).replace(' ', '/'),
        chunkKey: (_, position) => `chunk ${position}`,
        putHeaders: () => ({ 'x-own': 'yes' }),
      },
    });
    says.openInBatch = (_, { status, body }) => ({
      status,
      body: { ...(body as object), chunks: { 'chunk 0': ticketFor('x') } },
    });
    const [session] = (await openInBatch('a')) as [Session];
    const [file = {}] = (sent[0]?.body.open ?? []) as Fields[];
    expect(file).to.deep.include({ label: 'A', sizes: [5] });
    expect(file.hashes).to.deep.equal([btoa('a'.padEnd(32, '-'))]);
    expect(session.header).to.equal('session/2');
    const tickets = calls.takeTickets?.(session, [chunkOf('a')]);
    expect(tickets?.get(hashOf('a'))?.upload).to.deep.include({
      url: 'https://store.test/x',
      headers: { 'x-own': 'yes' },
    });
  });

  for (const [what, input] of Object.entries<SettingsInput>({
    'without commit-path': { commitPath: undefined },
    'without batch-path': { batchPath: undefined },
    'with an empty batch-path': { batchPath: '' },
    'if the service chooses the chunk size': { profile: { chunkSize: () => 5 } },
    'if a field of the page has the name of a field of batches': {
      profile: { sessionFields: () => ({ hashes: 'own' }) },
    },
  }))
    it(`go alone ${what}`, async () => {
      const { openInBatch, paths } = scripted(input);
      await openInBatch('a', 'b');
      expect(paths()).to.deep.equal(['uploadsession', 'uploadsession']);
    });

  for (const [what, profile] of Object.entries({
    'the default': {},
    'the profile': { sessionHeader: ({ header }: { readonly header: string | null }) => `${header}` },
  }))
    it(`go alone if the session is in a header of the response, which ${what} reads (U23)`, () =>
      captureWarnings(async () => {
        const { openInBatch, paths, says } = scripted({ profile });
        const headers = { 'x-service-uploadsession': 'in a header' };
        says.open = () => ({ status: 201, body: { session_id: 'id' }, headers });
        const sessions = await openInBatch('a', 'b');
        expect(sessions.map(({ header }) => header)).to.deep.equal(['in a header', 'in a header']);
        expect(paths()).to.deep.equal(['uploadsession', 'uploadsession']);
      }));

  it('share requests if the session is in a header and in the body', async () => {
    const { openInBatch, paths, says } = scripted();
    const headers = { 'x-service-uploadsession': 'same' };
    says.open = () => ({ status: 201, body: { session_id: 'id', passport: 'same' }, headers });
    await openInBatch('a', 'b');
    expect(paths()).to.deep.equal(['batch']);
  });

  it('of several chunks, and those whose commit timed out, commit alone', async () => {
    const { calls, commit, openInBatch, paths, sent } = scripted();
    const [a, b] = (await openInBatch('a', 'b')) as [Session, Session];
    sent.length = 0;
    const proof = { hashes: [hashOf('b'), hashOf('c')], receipts: ['1', '2'] };
    await Promise.all([calls.commit?.(b, proof, forever), commit(a, 'a', { patience: 1.5 })]);
    expect(paths()).to.deep.equal(['commit', 'commit']);
  });

  it('commit after `onSend` has resolved, each its own', async () => {
    const { commit, openInBatch, paths, sent } = scripted();
    const [a, b] = (await openInBatch('a', 'b')) as [Session, Session];
    sent.length = 0;
    const saved = deferred<void>();
    const late = commit(a, 'a', { onSend: () => saved.promise });
    await commit(b, 'b', { onSend: () => undefined });
    expect(sent[0]?.body.commit).to.have.length(1);
    saved.resolve();
    await late;
    expect(paths()).to.deep.equal(['batch', 'batch']);
  });

  it('call `onSend` when the request starts, not for a commit that is aborted before', async () => {
    const { calls, commit, openInBatch, says, sent } = scripted();
    const [a, b, c] = (await openInBatch('a', 'b', 'c')) as [Session, Session, Session];
    const gate = deferred<Said>();
    const { batch } = says;
    says.batch = () => gate.promise;
    const told: string[] = [];
    const running = commit(a, 'a', { onSend: () => void told.push('a') });
    await settled();
    says.batch = batch;
    const controller = new AbortController();
    const proof = { hashes: [hashOf('b')], receipts: ['receipt'] };
    const left = rejection(
      calls.commit?.(b, proof, controller.signal, { onSend: () => void told.push('b') }) as Promise<unknown>,
    );
    const waiting = commit(c, 'c', { onSend: () => void told.push('c') });
    await settled();
    expect(told).to.deep.equal(['a']);
    controller.abort('paused');
    expect(await left).to.equal('paused');
    gate.resolve(batch([{}], 'commit') as Said);
    await Promise.all([running, waiting]);
    expect(told).to.deep.equal(['a', 'c']);
    expect(sent.slice(1).map(({ body }) => (body.commit as unknown[]).length)).to.deep.equal([1, 1]);
  });

  it('are not sent if their file is removed while another one of their batch is prepared', async () => {
    const { calls, commit, openInBatch, sent } = scripted();
    const [a, b] = (await openInBatch('a', 'b')) as [Session, Session];
    const saved = deferred<void>();
    const controller = new AbortController();
    const proof = { hashes: [hashOf('a')], receipts: ['receipt'] };
    const removed = rejection(calls.commit?.(a, proof, controller.signal, {}) as Promise<unknown>);
    const other = commit(b, 'b', { onSend: () => saved.promise });
    await settled();
    controller.abort('removed');
    saved.resolve();
    await other;
    expect(await removed).to.equal('removed');
    expect(sent.slice(1).map(({ body }) => (body.commit as { session: string }[]).length)).to.deep.equal([1]);
  });

  it('without the right for one call fail alone: a new token would not help', async () => {
    const { open, openInBatch, paths, says } = scripted();
    await openInBatch('a');
    says.batch = () => ({
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
    });
    await Promise.all([open('b'), open('c')]);
    expect(paths()).to.deep.equal(['batch', 'batch', 'uploadsession', 'uploadsession']);
  });

  it('keep their sessions if a function of the profile throws for one of them', async () => {
    const { calls, openInBatch } = scripted({
      profile: {
        chunkKey: (hash) => {
          if (hash === hashOf('b')) throw new Error('not this one');
          return hash;
        },
      },
    });
    const [a, b] = (await openInBatch('a', 'b')) as [Session, Session];
    expect(calls.takeTickets?.(a, [chunkOf('a')])?.size).to.equal(1);
    expect(calls.takeTickets?.(b, [chunkOf('b')])).to.equal(undefined);
    expect((await rejection<UploaderError>(calls.presign(b, [chunkOf('b')], forever))).code).to.equal(
      'bad-config',
    );
  });

  it('are not sent if `onSend` rejects, and their batch is', async () => {
    const { commit, openInBatch, sent } = scripted();
    const [a, b] = (await openInBatch('a', 'b')) as [Session, Session];
    const failing = rejection(commit(a, 'a', { onSend: () => Promise.reject(new Error('not saved')) }));
    await commit(b, 'b', { onSend: () => undefined });
    expect((await failing).message).to.equal('not saved');
    expect(sent.slice(1).map(({ body }) => (body.commit as { session: string }[])[0]?.session)).to.deep.equal(
      [b.header],
    );
  });

  it('get their own outcome of a commit: accepted, missing chunks, a taken name, complete', async () => {
    const { commit, openInBatch, says } = scripted();
    const sessions = await openInBatch('a', 'b', 'c', 'd');
    const answers = [
      { status: 202, body: {}, retry_after: 2 },
      { status: 409, body: { missing: [hashOf('b')] } },
      { status: 409, body: { debuginfo: 'taken' } },
      { status: 200, body: { file_id: 'd' } },
    ];
    says.batch = () => ({ status: 200, body: { answers } });
    const said = await Promise.all(
      sessions.map((session, at) => commit(session, 'abcd'[at] as string).catch((error) => error.code)),
    );
    expect(said).to.deep.equal([
      { missing: [], pending: { retryAfterMs: 2000 } },
      { missing: [hashOf('b')] },
      'name-taken',
      { missing: [], body: { file_id: 'd' } },
    ]);
  });

  for (const [what, firstChunks] of Object.entries({
    'unreadable file': () => Promise.reject(new UploaderError('file-unreadable', 'gone')),
    'file that cannot be hashed': () => Promise.reject(new UploaderError('hash-failed', 'no worker')),
  }))
    it(`open no session for an ${what}`, async () => {
      const { open, openInBatch, paths } = scripted();
      await openInBatch('a');
      const error = await rejection<UploaderError>(open('b', firstChunks()));
      expect(error.code).to.match(/file-unreadable|hash-failed/);
      expect(paths()).to.deep.equal(['batch']);
    });

  for (const kind of ['open', 'commit'])
    it(`with a 404 in a batch (${kind}) that may be of another server are sent alone, which says the right path`, () =>
      captureWarnings(async (warned) => {
        const { commit, open, openInBatch, paths, says } = scripted();
        const [a] = (await openInBatch('a')) as [Session];
        says.batch = (files) => ({
          status: 200,
          body: { answers: files.map(() => ({ status: 404, body: {} })) },
        });
        says.open = () => ({ status: 404 });
        says.commit = () => ({ status: 404 }) as never;
        const error = await rejection<UploaderError>(kind === 'open' ? open('b') : commit(a, 'a'));
        expect(error.code).to.equal(kind === 'open' ? 'service-not-found' : 'session-expired');
        const [path, address] = kind === 'open' ? ['session', 'files/uploadsession'] : ['commit', 'commit'];
        expect(warned).to.deep.equal([
          `secure-uploader: The service responded with 404 to ${kind}. Check base-url and ${path}-path: https://service.test/${address}`,
        ]);
        expect(paths()).to.deep.equal(['batch', 'batch', address.split('/').at(-1)]);
      }));

  it('with a 404 in a batch that has `debuginfo` keep it', async () => {
    const { commit, openInBatch, paths, says } = scripted();
    const [a] = (await openInBatch('a')) as [Session];
    says.commit = () => ({ status: 404, body: { debuginfo: 'no such session' } }) as never;
    expect((await rejection<UploaderError>(commit(a, 'a'))).code).to.equal('session-expired');
    expect(paths()).to.deep.equal(['batch', 'batch']);
  });

  it('open the first one at once, before its hash is there, and the others in a batch with theirs', async () => {
    const { open, paths, sent } = scripted();
    await import('../../src/service/batches.ts');
    await settled();
    const { promise: neverThere } = deferred<readonly HashOfChunk[]>();
    await Promise.all([open('a', neverThere), open('b'), open('c')]);
    expect(paths()).to.deep.equal(['uploadsession', 'batch']);
    expect(sent[1]?.body.open).to.have.length(2);
  });

  it('open alone if their hashes are no longer needed', async () => {
    const { open, openInBatch, paths } = scripted();
    await openInBatch('a');
    await open('b', Promise.reject(new DOMException('stopped', 'AbortError')));
    expect(paths()).to.deep.equal(['batch', 'uploadsession']);
  });
});

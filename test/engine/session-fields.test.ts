// Fields that the page adds to the request for a session, and the chunk size that the response sets. Runs against the reference
// service.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { PickedFile, SessionFile } from '../../src/core/types.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { addFault, logOf } from '../service/reference.ts';
import { freshFile } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { rejection, until } from '../support/collect.ts';
import { newStore, world } from '../support/world.ts';

const KIB = 1024;
const createEngine = async (settings: SettingsInput, store = newStore()): Promise<Uploader> =>
  (await world({ service: 'reference', ...settings, store })).uploader;

const isDone = (uploader: Uploader) => (): boolean => uploader.snapshot.files[0]?.phase === 'done';

const entriesOf = async (operation: string, { name }: File) =>
  (await logOf({ fileName: name })).filter((entry) => entry.operation === operation);

const picked = (file: File, metadata?: PickedFile['metadata']): PickedFile => ({
  file,
  relativePath: `folder/${file.name}`,
  ...(metadata && { metadata }),
});

describe('`profile.sessionFields`', () => {
  it('adds fields to the body that opens a session', async () => {
    const seen: SessionFile[] = [];
    const uploader = await createEngine({
      profile: {
        sessionFields: (file) => {
          seen.push(file);
          return { content_type: file.type, tags: file.metadata?.tags };
        },
      },
    });
    const file = new File([new Uint8Array(9)], freshFile(1).name, { type: 'text/plain', lastModified: 7 });
    await uploader.addFiles([picked(file, { tags: ['a'] })]);
    await until(isDone(uploader));
    expect(seen).to.deep.equal([
      {
        name: file.name,
        relativePath: `folder/${file.name}`,
        sizeBytes: 9,
        type: 'text/plain',
        lastModifiedMs: 7,
        metadata: { tags: ['a'] },
      },
    ]);
    const [session] = await entriesOf('session', file);
    expect(session?.fields).to.have.members(['parent_id', 'file_name', 'file_size', 'content_type', 'tags']);
  });

  it('does not replace the fields of the interface', async () => {
    const sessionFields = () => ({ parent_id: 'folder-readonly', file_name: 'other', file_size: 1 });
    const uploader = await createEngine({ profile: { sessionFields } });
    const file = freshFile(10);
    await uploader.addFiles([file]);
    await until(isDone(uploader));
    expect(await entriesOf('session', file)).to.have.length(1);
  });

  it('fails the upload with `bad-config` if it throws or returns something that is no JSON', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const sessionFields of [
      () => {
        throw new Error('a defect of the page');
      },
      () => cyclic,
    ]) {
      const uploader = await createEngine({ profile: { sessionFields } });
      const codes: string[] = [];
      uploader.on('upload-failed', ({ code }) => codes.push(code));
      await uploader.addFiles([freshFile(10)]);
      await until(() => codes.length > 0);
      expect(codes).to.deep.equal(['bad-config']);
    }
  });

  it('gets the metadata of a saved upload again, for a new session after a reload', async () => {
    const store = newStore();
    const seen: unknown[] = [];
    const profile = {
      sessionFields: ({ metadata }: SessionFile) => {
        seen.push(metadata);
        return {};
      },
    };
    const file = freshFile(3 * 64 * KIB);
    await addFault({ operation: 'put', stall: true, match: { fileName: file.name } });
    const before = await createEngine({ profile, concurrency: 1 }, store);
    await before.addFiles([picked(file, { order: 5 })]);
    await until(async () => (await store.list())[0]?.metadata !== undefined);
    await until(async () => (await entriesOf('put', file)).length === 1);
    await before.close();
    // The fault applies to the commit, because a late presign request of the closed engine would use up a fault at presigning.
    await addFault({ operation: 'commit', status: 410, times: 4, match: { fileName: file.name } });

    const uploader = await createEngine({ profile }, store);
    await until(() => uploader.snapshot.files[0]?.pauseReason === 'needs-file');
    await uploader.addFiles([picked(file)]);
    await until(isDone(uploader));
    expect(seen).to.deep.equal([{ order: 5 }, { order: 5 }]);
  });
});

describe('the metadata of a file', () => {
  it('is copied when the file is added', async () => {
    const seen: unknown[] = [];
    const uploader = await createEngine({
      manual: true,
      profile: {
        sessionFields: ({ metadata }) => {
          seen.push(metadata);
          return {};
        },
      },
    });
    const metadata = { tag: 'before' };
    await uploader.addFiles([picked(freshFile(10), metadata)]);
    metadata.tag = 'after';
    await uploader.start();
    await until(isDone(uploader));
    expect(seen).to.deep.equal([{ tag: 'before' }]);
  });

  it('may have 4 kB as JSON; with more, or without JSON, nothing is added', async () => {
    const uploader = await createEngine({ manual: true });
    const file = freshFile(10);
    await uploader.addFiles([picked(file, { text: 'x'.repeat(4096 - '{"text":""}'.length) })]);
    expect(uploader.snapshot.files).to.have.length(1);
    for (const text of ['x'.repeat(4097 - '{"text":""}'.length), 'ü'.repeat(2100), 1n]) {
      const files = [freshFile(10), picked(freshFile(10), { text })];
      const error = await rejection<{ code: string; message: string }>(uploader.addFiles(files));
      expect(error.code).to.equal('bad-config');
      expect(error.message).to.include('metadata');
    }
    expect(uploader.snapshot.files).to.have.length(1);
  });
});

describe('`profile.chunkSize`', () => {
  const profile = {
    chunkSize: ({ body }: { body: Readonly<Record<string, unknown>> }) =>
      body.chunk_bytes as number | undefined,
  };
  const answer = (file: File, answerFields: Record<string, unknown>) =>
    addFault({ operation: 'session', answerFields, match: { fileName: file.name } });

  it('lets the service choose the chunk size, also on resuming', async () => {
    const store = newStore();
    const file = freshFile(100 * KIB);
    await answer(file, { chunk_bytes: 30 * KIB });
    await addFault({ operation: 'put', skip: 1, stall: true, match: { fileName: file.name } });
    const before = await createEngine({ profile, concurrency: 1 }, store);
    await before.addFiles([file]);
    await until(async () => (await store.list())[0]?.stored.size === 1);
    // The stall applies to one PUT. Waits until the first engine has sent that PUT.
    await until(async () => (await entriesOf('put', file)).length === 2);
    await before.close();

    const uploader = await createEngine({ profile }, store);
    await until(() => uploader.snapshot.files.length === 1);
    await uploader.addFiles([file]);
    await until(isDone(uploader));
    expect(await entriesOf('session', file)).to.have.length(1);
    const puts = await entriesOf('put', file);
    expect(new Set(puts.map(({ sizeBytes }) => sizeBytes))).to.deep.equal(new Set([30 * KIB, 10 * KIB]));
  });

  it('uses `chunk-size` if it returns nothing', async () => {
    const file = freshFile(100 * KIB);
    const uploader = await createEngine({ profile });
    await uploader.addFiles([file]);
    await until(isDone(uploader));
    const sizes = (await entriesOf('put', file)).map(({ sizeBytes }) => sizeBytes);
    expect(sizes.sort()).to.deep.equal([36 * KIB, 64 * KIB]);
  });

  it('is applied again to a session that replaces a lost one', async () => {
    const file = freshFile(100 * KIB);
    await answer(file, { chunk_bytes: 60 * KIB });
    await addFault({
      operation: 'session',
      skip: 1,
      answerFields: { chunk_bytes: 50 * KIB },
      match: { fileName: file.name },
    });
    await addFault({ operation: 'chunks', status: 410, times: 2, match: { fileName: file.name } });
    const uploader = await createEngine({ profile });
    await uploader.addFiles([file]);
    await until(isDone(uploader));
    expect((await entriesOf('put', file)).map(({ sizeBytes }) => sizeBytes)).to.deep.equal([
      50 * KIB,
      50 * KIB,
    ]);
  });

  it('fails the upload with `bad-response` for a size that is no whole number above 0', async () => {
    speedUp(10);
    for (const chunkBytes of [0, -1, 1.5, '8', null]) {
      const file = freshFile(10);
      await addFault({
        operation: 'session',
        answerFields: { chunk_bytes: chunkBytes },
        times: -1,
        match: { fileName: file.name },
      });
      const uploader = await createEngine({ profile });
      const codes: string[] = [];
      uploader.on('upload-failed', ({ code }) => codes.push(code));
      await uploader.addFiles([file]);
      await until(() => codes.length > 0);
      expect(codes, `${chunkBytes}`).to.deep.equal(['bad-response']);
    }
  });
});

// Files that are added before the page can supply a token, against the reference service.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/config.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { addFault, findReference, logOf, tokenOf } from '../service/reference.ts';
import { freshFile } from '../support/bytes.ts';
import { settled, until, untilAsync } from '../support/collect.ts';
import { closeConnectedEngines, connectEngine, newStore } from '../support/reference-engine.ts';

const getToken = (): Promise<string> => tokenOf('alice');

afterEach(closeConnectedEngines);

/** Replaces the settings of an engine. */
async function configure(uploader: Uploader, settings: SettingsInput): Promise<void> {
  const { baseUrl } = await findReference();
  const usual = { parentId: 'folder-a', multiple: true, chunkSize: '64KiB' };
  uploader.configure({ baseUrl, ...usual, commitPath: '/files/uploadsession/commit', ...settings });
}

const phaseOf = ({ snapshot }: Uploader): string | undefined => snapshot.files[0]?.phase;

describe('a file that is added before the page has a token', () => {
  for (const auth of ['token', 'auto'] as const) {
    it(`is uploaded when the page sets getToken (${auth})`, async () => {
      const uploader = await connectEngine({ auth, silent: 'off', getToken: undefined });
      const asked = new Promise<void>((resolve) => uploader.on('auth-required', () => resolve()));
      await uploader.addFiles([freshFile(100_000)]);
      await asked;
      await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
      await configure(uploader, { auth, silent: 'off', getToken });
      await until(() => phaseOf(uploader) === 'done');
      expect(uploader.snapshot.auth).to.include({ state: 'signed-in', required: false });
    });

    it(`is uploaded when a listener of auth-required sets getToken (${auth})`, async () => {
      const uploader = await connectEngine({ auth, silent: 'off', getToken: undefined });
      const { baseUrl } = await findReference();
      const usual = { baseUrl, parentId: 'folder-a', multiple: true };
      uploader.on('auth-required', () => uploader.configure({ ...usual, auth, silent: 'off', getToken }));
      await uploader.addFiles([freshFile(100)]);
      await until(() => phaseOf(uploader) === 'done');
    });
  }

  it('is uploaded after start(), with manual', async () => {
    const manual = { manual: true, auth: 'token', getToken: undefined } as const;
    const uploader = await connectEngine(manual);
    await uploader.addFiles([freshFile(100)]);
    await configure(uploader, { ...manual, getToken });
    await uploader.start();
    await until(() => phaseOf(uploader) === 'done');
  });

  it('waits for a token again if another setting of sign-in changes', async () => {
    const uploader = await connectEngine({ auth: 'auto', silent: 'off', getToken: undefined });
    await uploader.addFiles([freshFile(100)]);
    await until(() => uploader.snapshot.auth.required);
    await configure(uploader, { auth: 'auto', silent: 'off', scope: 'files' });
    await until(() => uploader.snapshot.auth.required);
    expect(uploader.snapshot.files[0]?.pauseReason).to.equal('signed-out');
    await configure(uploader, { auth: 'auto', silent: 'off', scope: 'files', getToken });
    await until(() => phaseOf(uploader) === 'done');
  });

  it('does not get the token of another owner', async () => {
    const uploader = await connectEngine({ owner: 'ann', auth: 'token', getToken: undefined });
    await uploader.addFiles([freshFile(100)]);
    await until(() => uploader.snapshot.auth.required);
    await configure(uploader, { owner: 'bob', auth: 'token', getToken });
    await settled();
    expect(uploader.snapshot.files).to.deep.equal([]);
  });
});

it('an accepted upload of an earlier visit is completed when the page sets getToken', async () => {
  const file = freshFile(3 * 65_536);
  const store = newStore();
  const match = { fileName: file.name };
  await addFault({ operation: 'commit', pending: true, times: 1, match, headers: { 'retry-after': '300' } });
  const before = await connectEngine({}, { store });
  await before.addFiles([file]);
  await untilAsync(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
  await before.close();

  const uploader = await connectEngine({ auth: 'token', getToken: undefined }, { store });
  await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
  await configure(uploader, { auth: 'token', getToken });
  await until(() => phaseOf(uploader) === 'done');
  const log = await logOf(match);
  expect(log.filter(({ operation }) => operation === 'put')).to.have.length(3);
});

it('a new getToken supplies the next token of a running upload', async () => {
  const file = freshFile(4 * 65_536);
  const reasons: string[] = [];
  await addFault({ operation: 'put', delayMs: 300, times: 1, match: { fileName: file.name } });
  const uploader = await connectEngine({ concurrency: 1, batchSize: 1 });
  await uploader.addFiles([file]);
  await until(() => phaseOf(uploader) === 'uploading');
  await configure(uploader, {
    concurrency: 1,
    batchSize: 1,
    getToken: (reason) => {
      reasons.push(reason);
      return getToken();
    },
  });
  await until(() => phaseOf(uploader) === 'done');
  expect(reasons).to.deep.equal(['first']);
});

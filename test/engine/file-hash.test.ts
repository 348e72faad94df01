// `profile.sendFileHash` against the reference service, which compares the hash with the stored bytes.

import { expect } from '@open-wc/testing';
import type { CompletedDetail } from '../../src/core/changes.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { UploadStore } from '../../src/engine/resume/upload-store.ts';
import { addFault } from '../service/reference.ts';
import { freshFile, sha256 } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { newStore, world } from '../support/world.ts';

async function createEngine(
  store: UploadStore,
  settings: SettingsInput = { profile: { sendFileHash: true } },
) {
  const { uploader } = await world({ service: 'reference', ...settings, store });
  const completed: CompletedDetail[] = [];
  uploader.on('upload-completed', (detail) => completed.push(detail));
  return { completed, uploader };
}

describe('a page that sends the hash of each file', () => {
  it('gets it with every completed upload', async () => {
    const files = [0, 100, 3 * 65_536].map((sizeBytes) => freshFile(sizeBytes));
    const { completed, uploader } = await createEngine(newStore());
    await uploader.addFiles(files);
    await until(() => completed.length === files.length);
    for (const file of files)
      expect(completed.find(({ name }) => name === file.name)?.fileHash).to.equal(await sha256(file));
  });

  it('gets it after a reload without the file', async () => {
    const file = freshFile(3 * 65_536);
    const store = newStore();
    await addFault({
      ...{ operation: 'commit', pending: true, times: 1, match: { fileName: file.name } },
      headers: { 'retry-after': '300' },
    });
    const before = await createEngine(store);
    await before.uploader.addFiles([file]);
    await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
    await before.uploader.close();

    const { completed } = await createEngine(store);
    await until(() => completed.length === 1);
    expect(completed[0]?.fileHash).to.equal(await sha256(file));
  });
});

it('a page that does not ask for the hash of a file does not get it', async () => {
  const { completed, uploader } = await createEngine(newStore(), {});
  await uploader.addFiles([freshFile(3 * 65_536)]);
  await until(() => completed.length === 1);
  expect(completed[0]).to.not.have.property('fileHash');
});

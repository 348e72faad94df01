// An engine whose settings become unreadable: it adds no file with those of before, and keeps nothing of the previous owner.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { fileOf } from '../support/bytes.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { createUnfinished, newStore, world } from '../support/world.ts';

const isBadConfig = (call: () => void): void => {
  expect(call).to.throw(UploaderError).with.property('code', 'bad-config');
};

describe('an engine whose settings become unreadable', () => {
  it('adds no file until they can be read', async () => {
    const { uploader, input, row } = world({ manual: true, owner: 'ann' });
    await uploader.addFiles(fileOf(1, 10, 'a.txt'));
    const before = uploader.settings;
    isBadConfig(() => uploader.configure({ ...input, maxFiles: '' }));
    expect(uploader.settings).to.equal(before);
    expect(await rejection(uploader.addFiles(fileOf(2, 10, 'b.txt')))).to.include({ code: 'bad-config' });
    expect(row('a.txt')?.phase).to.equal('queued');
    uploader.configure(input);
    await uploader.addFiles(fileOf(3, 10, 'c.txt'));
    expect(uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['a.txt', 'c.txt']);
  });

  const owners: readonly unknown[] = ['bob', '', ' ', undefined, null, { id: 7 }, false];
  for (const owner of owners)
    it(`leaves the owner if owner changes with it to ${JSON.stringify(owner)}`, async () => {
      const tokens: string[] = [];
      const getToken = (): string => {
        tokens.push('ann');
        return 'token';
      };
      const { uploader, input } = world({ manual: true, auth: 'token', owner: 'ann', getToken });
      await uploader.addFiles(fileOf(1, 10, 'a.txt'));
      isBadConfig(() => uploader.configure({ ...input, owner: owner as string, maxFiles: '' }));
      expect([uploader.settings.owner, uploader.settings.getToken]).to.deep.equal(['', undefined]);
      await until(() => uploader.snapshot.files.length === 0);
      expect(await rejection(uploader.addFiles(fileOf(2, 10, 'b.txt')))).to.include({ code: 'bad-config' });
      uploader.configure({ ...input, owner: 'bob' });
      await uploader.addFiles(fileOf(3, 10, 'c.txt'));
      expect(uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['c.txt']);
      expect(tokens).to.deep.equal([]);
    });

  it('restores uploads of the next owner only with settings that can be read', async () => {
    for (const owner of ['bob', '']) {
      const store = newStore();
      const page = new Set<never>();
      await createUnfinished(fileOf(1, 2500, 'next.bin'), { store, owner });
      const { uploader, input } = world({ store, owner: 'ann', page: page as never });
      isBadConfig(() => uploader.configure({ ...input, owner, auth: 'tokn' as SettingsInput['auth'] }));
      // In the time of several reads of the store.
      for (let round = 0; round < 10; round += 1) await store.list().then(settled);
      expect(uploader.snapshot.files).to.deep.equal([]);
      uploader.configure({ ...input, owner });
      await until(() => uploader.snapshot.files.some(({ name }) => name === 'next.bin'));
    }
  });
});

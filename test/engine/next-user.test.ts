// What a page does with the data of its user when the user has changed: in this page, in another one, or while this one was away.

import { expect } from '@open-wc/testing';
import { hasSignedOut } from '../../src/auth/storage.ts';
import { endPeriod } from '../../src/core/user.ts';
import { fileOf } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import {
  clearElsewhere,
  inCache,
  signOutAndClearElsewhere,
  signOutAndClearUnnoticed,
  signOutElsewhere,
  signOutUnnoticed,
  whileFrozen,
} from '../support/other-page.ts';
import { createUnfinished, halfWay, newStore, world } from '../support/world.ts';

afterEach(() => localStorage.clear());

/**
 * Waits until the sessions of suspended engines have ended. They stay for one task, in which a view that is moved is restored. The
 * timer of that task is set first, and browsers make no timer of zero later than 4 ms.
 */
const sessionsEnd = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Resolves when this page has both kinds of news of a sign-out in another page, so that none of them comes in a later test. */
async function newsOfSignOut(): Promise<void> {
  const channel = new BroadcastChannel('secure-uploader:sign-out');
  const next = (target: EventTarget, type: string): Promise<Event> =>
    new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));
  await Promise.all([next(channel, 'message'), next(window, 'storage')]);
  channel.close();
}

describe('a page that learns late of a sign-out in another page', () => {
  for (const [how, leave] of [
    ['was in the back/forward cache', inCache],
    ['was frozen', whileFrozen],
  ] as const)
    for (const what of ['of another file', 'of the same file'] as const)
      it(`deletes what it has saved, but not an upload of the next user ${what} (it ${how})`, async () => {
        const store = newStore();
        const engine = await halfWay({ store });
        engine.service.answerAll('cancel');
        await until(async () => (await store.list())[0]?.stored.size === 1);
        const [ofAlice] = await store.list();
        await store.clear();
        if (what === 'of another file')
          await createUnfinished(fileOf(2, 2500, 'b.bin'), { owner: 'bob', store });
        else if (ofAlice) await store.save({ ...ofAlice, createdAtMs: ofAlice.createdAtMs + 1 });
        const [ofBob] = await store.list();
        expect(engine.phases()).to.deep.equal(['uploading']);
        leave(signOutUnnoticed);
        await until(() => engine.phases().length === 0);
        await until(() => engine.service.count('cancel') === 1);
        for (let round = 0; round < 20; round += 1) await settled();
        expect((await store.list()).map(({ key, createdAtMs }) => [key, createdAtMs])).to.deep.equal([
          [ofBob?.key, ofBob?.createdAtMs],
        ]);
      });

  it('does not end the period of the next user', async () => {
    await halfWay().then(({ service }) => service.answerAll('cancel'));
    inCache(signOutUnnoticed);
    const period = localStorage.getItem('secure-uploader:period');
    expect(period).to.contain('of-another-page');
    for (let round = 0; round < 20; round += 1) await settled();
    expect(localStorage.getItem('secure-uploader:period')).to.equal(period);
  });
});

describe('the list of an engine', () => {
  for (const [what, leave] of [
    ['', signOutUnnoticed],
    [', and has cleared the storage', signOutAndClearUnnoticed],
  ] as const)
    it(`is empty if the user has signed out while it was suspended, which its sessions do not notice${what}`, async () => {
      const store = newStore();
      const engine = await halfWay({ store });
      await engine.uploader.suspend();
      await sessionsEnd();
      leave();
      expect(engine.phases()).to.have.length(1);
      engine.uploader.restore();
      await until(() => engine.phases().length === 0);
      await until(async () => (await store.list()).length === 0);
    });

  for (const [what, leave] of [
    ['', signOutElsewhere],
    [', who clears the storage', signOutAndClearElsewhere],
  ] as const)
    it(`is empty if the user signs out in another tab${what}, while it was suspended and its session has not ended yet`, async () => {
      const engine = await halfWay();
      const news = newsOfSignOut();
      await engine.uploader.suspend();
      leave();
      engine.uploader.restore();
      await until(() => engine.phases().length === 0);
      await news;
    });

  it('stays if it was only suspended', async () => {
    const engine = await halfWay();
    await engine.uploader.suspend();
    engine.uploader.restore();
    await until(() => engine.phases()[0] === 'uploading');
  });

  it('stays when another page clears the storage', async () => {
    const engine = await halfWay();
    clearElsewhere();
    await new Promise((resolve) => addEventListener('storage', resolve, { once: true }));
    for (let round = 0; round < 20; round += 1) await settled();
    expect(engine.phases()).to.deep.equal(['uploading']);
  });
});

for (const [when, leave] of [
  ['signs out', ({ uploader }) => uploader.signOut()],
  ['signs out in another tab', async () => signOutElsewhere()],
  ['signs out in another tab, which clears the storage', async () => signOutAndClearElsewhere()],
  ['has signed out while the page was in the back/forward cache', async () => inCache(signOutUnnoticed)],
  ['changes', async ({ uploader, input }) => uploader.configure({ ...input, owner: 'bob' })],
] as [string, (engine: Awaited<ReturnType<typeof halfWay>>) => Promise<void>][])
  describe(`when the user ${when}`, () => {
    it('the names of rejected files are gone', async () => {
      const engine = world({ owner: 'ann', maxFileSize: 1 });
      await engine.uploader.addFiles([fileOf(1, 10, 'salary.pdf')]);
      expect(engine.uploader.snapshot.rejections).to.have.length(1);
      await leave(engine as never);
      await until(() => engine.uploader.snapshot.rejections.length === 0);
    });

    it('the report has no span and no error of before, nor of what is being stopped', async () => {
      const engine = await halfWay({ owner: 'ann', maxFileSize: 5000, onSpan: () => undefined });
      await engine.uploader.addFiles([fileOf(2, 9000, 'b.bin')]);
      engine.service.answerAll('cancel');
      const before = await engine.uploader.diagnose();
      expect(before.spans).not.to.deep.equal([]);
      expect(before.errors).not.to.deep.equal([]);
      await leave(engine);
      await until(() => engine.phases().length === 0);
      for (let round = 0; round < 20; round += 1) await settled();
      const { spans, errors } = await engine.uploader.diagnose();
      expect({ spans, errors }).to.deep.equal({ spans: [], errors: [] });
    });
  });

for (const others of [0, 1])
  it(`each sign-out is complete while the last calls of the one before are pending (${others} others)`, async () => {
    let logoutCount = 0;
    const logout = (): Promise<never> => {
      logoutCount += 1;
      return new Promise(() => undefined);
    };
    const baseUrl = `https://${crypto.randomUUID()}.test`;
    const settings = { auth: 'token', getToken: () => 'token', logoutPath: '/logout' } as const;
    const { uploader } = world({ ...settings, baseUrl, authOptions: { adapter: { logout } } });
    for (let count = 0; count < others; count += 1) void world().uploader;
    for (const count of [1, 2]) {
      uploader.signIn();
      await until(() => uploader.snapshot.auth.state === 'signed-in');
      expect(hasSignedOut({ baseUrl, clientId: 'secure-uploader' })).to.equal(false);
      const before = Number.parseInt(localStorage.getItem('secure-uploader:period') ?? '', 10);
      void uploader.signOut();
      const after = Number.parseInt(localStorage.getItem('secure-uploader:period') ?? '', 10);
      expect(hasSignedOut({ baseUrl, clientId: 'secure-uploader' })).to.equal(true);
      expect(after - before).to.equal(1);
      await until(() => logoutCount === count);
      localStorage.removeItem(`secure-uploader:signed-out:${baseUrl} secure-uploader`);
    }
  });

it('a sign-out ends one period, also if the sessions of the uploader are closed', async () => {
  const engine = await halfWay();
  engine.service.answerAll('cancel');
  await engine.uploader.suspend();
  const before = Number.parseInt(localStorage.getItem('secure-uploader:period') ?? '', 10);
  void engine.uploader.signOut();
  expect(Number.parseInt(localStorage.getItem('secure-uploader:period') ?? '', 10) - before).to.equal(1);
  await until(() => engine.phases().length === 0);
});

it('a file that is added to a suspended list after a sign-out is that of the next user', async () => {
  const engine = await halfWay();
  await engine.uploader.suspend();
  signOutUnnoticed();
  await engine.uploader.addFiles([fileOf(3, 2500, 'of-bob.bin')]);
  engine.uploader.restore();
  await until(() => engine.row('a.bin') === undefined);
  for (let round = 0; round < 20; round += 1) await settled();
  expect(engine.uploader.snapshot.files.map(({ name }) => name)).to.deep.equal(['of-bob.bin']);
});

it('a sign-out in the page is one for the uploaders of all its services', async () => {
  const engine = await halfWay({ baseUrl: 'https://other.test' });
  engine.service.answerAll('cancel');
  endPeriod();
  await until(() => engine.phases().length === 0);
  expect(engine.details('signed-out')).to.deep.equal([{ reason: 'user' }]);
});

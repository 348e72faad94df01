// Files that are added before the page can supply a token, against the reference service.

import { expect } from '@open-wc/testing';
import type { GetToken, SettingsInput } from '../../src/core/settings-table.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { addFault, findReference, logOf, tokenOf } from '../service/reference.ts';
import { freshFile } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { newStore, world } from '../support/world.ts';

const getToken = (): Promise<string> => tokenOf('alice');

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
      const { uploader } = await world({ service: 'reference', auth, silent: 'off', getToken: undefined });
      const asked = new Promise<void>((resolve) => uploader.on('auth-required', () => resolve()));
      await uploader.addFiles([freshFile(100_000)]);
      await asked;
      await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
      await configure(uploader, { auth, silent: 'off', getToken });
      await until(() => phaseOf(uploader) === 'done');
      expect(uploader.snapshot.auth).to.include({ state: 'signed-in', required: false });
    });

    it(`is uploaded when a listener of auth-required sets getToken (${auth})`, async () => {
      const { uploader } = await world({ service: 'reference', auth, silent: 'off', getToken: undefined });
      const { baseUrl } = await findReference();
      const usual = { baseUrl, parentId: 'folder-a', multiple: true };
      uploader.on('auth-required', () => uploader.configure({ ...usual, auth, silent: 'off', getToken }));
      await uploader.addFiles([freshFile(100)]);
      await until(() => phaseOf(uploader) === 'done');
    });
  }

  it('is uploaded after start(), with manual', async () => {
    const manual = { manual: true, auth: 'token', getToken: undefined } as const;
    const { uploader } = await world({ service: 'reference', ...manual });
    await uploader.addFiles([freshFile(100)]);
    await configure(uploader, { ...manual, getToken });
    await uploader.start();
    await until(() => phaseOf(uploader) === 'done');
  });

  it('waits for a token again if another setting of sign-in changes', async () => {
    speedUp(10);
    const { uploader } = await world({
      service: 'reference',
      auth: 'auto',
      silent: 'off',
      getToken: undefined,
    });
    await uploader.addFiles([freshFile(100)]);
    await until(() => uploader.snapshot.auth.required);
    await configure(uploader, { auth: 'auto', silent: 'off', scope: 'files' });
    await until(() => uploader.snapshot.auth.required);
    expect(uploader.snapshot.files[0]?.pauseReason).to.equal('signed-out');
    await configure(uploader, { auth: 'auto', silent: 'off', scope: 'files', getToken });
    await until(() => phaseOf(uploader) === 'done');
  });

  it('waits for the getToken that is being called, and does not call the next one', async () => {
    const first = deferred<string>();
    const called: string[] = [];
    const signals: AbortSignal[] = [];
    const named = (name: string, token: Promise<string>): GetToken => {
      return (_reason, signal) => {
        called.push(name);
        signals.push(signal);
        return token;
      };
    };
    const { uploader } = await world({ service: 'reference', getToken: named('first', first.promise) });
    await uploader.addFiles([freshFile(100)]);
    await until(() => called.length === 1);
    await configure(uploader, { getToken: named('second', getToken()) });
    await settled();
    expect(signals[0]?.aborted).to.equal(false);
    first.resolve(await getToken());
    await until(() => phaseOf(uploader) === 'done');
    expect(called).to.deep.equal(['first']);
  });

  it('uses the next getToken when the one that is being called fails', async () => {
    speedUp(10);
    const first = deferred<string>();
    const called: string[] = [];
    const { uploader } = await world({
      service: 'reference',
      getToken: () => {
        called.push('first');
        return first.promise;
      },
    });
    await uploader.addFiles([freshFile(100)]);
    await until(() => called.length === 1);
    await configure(uploader, { getToken });
    first.reject(new Error('no token'));
    await until(() => phaseOf(uploader) === 'done');
  });

  it('waits if each getToken fails and the page sets another one each time', async () => {
    speedUp(10);
    const calledMs: number[] = [];
    const failing = (): GetToken => {
      let isFirst = true;
      return () => {
        if (isFirst) calledMs.push(performance.now());
        isFirst = false;
        return Promise.reject(new Error('no token'));
      };
    };
    const { uploader } = await world({ service: 'reference', getToken: failing() });
    uploader.on('auth-failed', () => void configure(uploader, { getToken: failing() }));
    const startedMs = performance.now();
    await uploader.addFiles([freshFile(100)]);
    await until(() => calledMs.length === 3);
    await configure(uploader, { auth: 'none' });
    // Each fails for three seconds. The second one has no delay, and the third one has five seconds. Not compared with each other,
    // because a busy page makes each call late.
    expect(Number(calledMs[1]) - startedMs).to.be.at.least(2950);
    expect(Number(calledMs[2]) - startedMs).to.be.at.least(7900);
  });

  it('reports that it is queued again, and then why it waits', async () => {
    const { uploader } = await world({ service: 'reference', auth: 'token', getToken: undefined });
    await uploader.addFiles([freshFile(100)]);
    await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
    const names: string[] = [];
    uploader.onChange(({ name, detail }) => {
      if ('id' in detail && name !== 'chunk-hashed') names.push(name);
    });
    await configure(uploader, { auth: 'token', getToken: () => null });
    await until(() => names.includes('upload-paused'));
    // The progress of the hashing may be reported a moment later, also that of the first run.
    const whole = names.slice(names.indexOf('upload-resumed'), names.indexOf('upload-paused') + 1);
    expect(whole).to.deep.equal(['upload-resumed', 'upload-started', 'upload-progress', 'upload-paused']);
  });

  it('is uploaded when the page names its owner and sets getToken at once', async () => {
    const { uploader } = await world({ service: 'reference', auth: 'token', getToken: undefined });
    await uploader.addFiles([freshFile(100)]);
    await until(() => uploader.snapshot.auth.required);
    await configure(uploader, { owner: 'ann', auth: 'token', getToken });
    await until(() => phaseOf(uploader) === 'done');
  });

  for (const how of ['allowSignIn', 'signIn'] as const)
    it(`after a sign-out, is uploaded with the getToken that the page sets before ${how}()`, async () => {
      const called: string[] = [];
      const named = (name: string): GetToken => {
        return () => {
          called.push(name);
          return getToken();
        };
      };
      const { uploader } = await world({ service: 'reference', getToken: named('before') });
      await uploader.addFiles([freshFile(100)]);
      await until(() => phaseOf(uploader) === 'done');
      await uploader.signOut();
      await uploader.addFiles([freshFile(100)]);
      await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
      const { baseUrl } = await findReference();
      uploader.configure({ baseUrl, parentId: 'folder-a', multiple: true, getToken: named('after') });
      uploader[how]();
      await until(() => phaseOf(uploader) === 'done');
      expect(called).to.deep.equal(['before', 'after']);
    });

  it('does not get the token of another owner', async () => {
    const { uploader } = await world({
      service: 'reference',
      owner: 'ann',
      auth: 'token',
      getToken: undefined,
    });
    await uploader.addFiles([freshFile(100)]);
    await until(() => uploader.snapshot.auth.required);
    let isAsked = false;
    const ofBob: GetToken = () => {
      isAsked = true;
      return getToken();
    };
    await configure(uploader, { owner: 'bob', auth: 'token', getToken: ofBob });
    await settled();
    expect(uploader.snapshot.files).to.deep.equal([]);
    expect(isAsked).to.equal(false);
  });
});

it('an accepted upload of an earlier visit is completed when the page sets getToken', async () => {
  const file = freshFile(3 * 65_536);
  const store = newStore();
  const match = { fileName: file.name };
  await addFault({ operation: 'commit', pending: true, times: 1, match, headers: { 'retry-after': '300' } });
  const { uploader: before } = await world({ service: 'reference', store });
  await before.addFiles([file]);
  await until(async () => (await store.list())[0]?.acceptedAtMs !== undefined);
  await before.close();

  const { uploader } = await world({ service: 'reference', auth: 'token', getToken: undefined, store });
  await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
  await configure(uploader, { auth: 'token', getToken });
  await until(() => phaseOf(uploader) === 'done');
  const log = await logOf(match);
  expect(log.filter(({ operation }) => operation === 'put')).to.have.length(3);
});

it('an upload keeps to the sign-in that it has used, because the next token may be of another user', async () => {
  speedUp(10);
  const file = freshFile(3 * 65_536);
  const match = { fileName: file.name };
  let calls = 0;
  const ofAlice: GetToken = () => {
    calls += 1;
    return calls === 1 ? tokenOf('alice') : Promise.reject(new Error('signed out'));
  };
  await addFault({ operation: 'chunks', status: 401, skip: 1, times: 1, match });
  const usual = { concurrency: 1, batchSize: 1 };
  const { uploader } = await world({ service: 'reference', ...usual, getToken: ofAlice });
  await uploader.addFiles([file]);
  await until(() => uploader.snapshot.files[0]?.pauseReason === 'signed-out');
  await uploader.addFiles([freshFile(100)]);
  await until(() => uploader.snapshot.files[1]?.pauseReason === 'signed-out');
  await configure(uploader, { ...usual, getToken: () => tokenOf('vic') });
  // The file that was added after the token was lost has used none.
  await until(() => uploader.snapshot.files[1]?.phase === 'done');
  expect(uploader.snapshot.files[0]?.pauseReason).to.equal('signed-out');
});

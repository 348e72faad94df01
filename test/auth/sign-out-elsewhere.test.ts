// A sign-out is one for all sessions of the page, whichever service they use, and each one is complete.
import { expect } from '@open-wc/testing';
import { hasSignedOut } from '../../src/auth/storage.ts';
import { endPeriod } from '../../src/core/user.ts';
import { sleep } from '../../src/core/wait.ts';
import { until } from '../support/collect.ts';
import { signOutElsewhere } from '../support/other-page.ts';
import { closeAll, forever, noPost, type Opened, open } from './open-session.ts';
import { granted, openSilent, signInReaches } from './scripted.ts';

afterEach(closeAll);

let count = 0;
const freshUrl = (): string => `https://sign-out-elsewhere-${++count}.example`;
const tokenOf = ({ session }: Opened): Promise<string | undefined> =>
  session.withToken(async (token) => token, forever);

it('a sign-out of another service is one for a page that is loaded again', async () => {
  const baseUrl = freshUrl();
  const [left, other] = [
    openSilent([granted()], { baseUrl: freshUrl() }),
    openSilent([granted()], { baseUrl }),
  ];
  await tokenOf(other);
  await left.session.signOut();
  other.session.close();
  await sleep(10, forever);
  const reloaded = openSilent([granted()], { baseUrl });
  const stop = new AbortController();
  const call = reloaded.session.withToken(async (token) => token, stop.signal).catch(() => undefined);
  await Promise.race([signInReaches(reloaded, 'prompt'), call]);
  stop.abort();
  expect([reloaded.sent, reloaded.session.snapshot.state]).to.deep.equal([[], 'prompt']);
});

for (const [where, leave, reason] of [
  ['this page', endPeriod, 'user'],
  ['another tab', signOutElsewhere, 'other-tab'],
] as const)
  it(`a sign-out in ${where} is one for a session that needs no token, too`, async () => {
    const opened = open({ getToken: () => 'token' }, {}, noPost, undefined, undefined, true);
    await tokenOf(opened);
    const reported = opened.next('signed-out');
    leave();
    expect(await reported).to.deep.equal({ reason });
    expect(opened.session.snapshot.state).to.equal('signed-out');
  });

it('a sign-out is complete also while the last calls of the one before are pending', async () => {
  let calls = 0;
  let logoutCount = 0;
  const logout = (): Promise<never> => {
    logoutCount += 1;
    return new Promise(() => undefined);
  };
  const service = { baseUrl: freshUrl(), clientId: 'secure-uploader' };
  const input = { auth: 'token', logoutPath: '/logout', authOptions: { adapter: { logout } } } as const;
  const opened = open({ ...input, ...service, getToken: () => `token-${++calls}` });
  for (const count of [1, 2]) {
    expect(await tokenOf(opened)).to.equal(`token-${count}`);
    // Another uploader of the page has ended the period.
    endPeriod();
    void opened.session.signOut();
    void opened.session.signOut();
    expect(hasSignedOut(service)).to.equal(true);
    await until(() => logoutCount === count);
    localStorage.removeItem(`secure-uploader:signed-out:${service.baseUrl} ${service.clientId}`);
    opened.session.allow();
  }
});

// The message on the console about an origin that gives no response which the page can read.

import { expect } from '@open-wc/testing';
import { createHosts } from '../../src/core/host.ts';
import { createPost } from '../../src/service/client.ts';
import { createSend } from '../../src/service/http.ts';
import { readabilityOf } from '../../src/service/readability.ts';
import { captureWarnings, explained } from '../support/console.ts';
import { forever } from './reference.ts';

const { fetch: nativeFetch } = globalThis;
afterEach(() => {
  globalThis.fetch = nativeFetch;
});

/** A port at which no browser sends requests. Each test has another origin, because the count belongs to the page. */
const nowhere = (scheme = 'http'): string => `${scheme}://${crypto.randomUUID()}.localhost:9`;
const options = { credentials: 'same-origin', signal: forever } as const;
const settingsOf = (baseUrl: string) => ({ baseUrl, authHeader: 'Authorization', authScheme: 'Bearer' });
const sendTo =
  (
    baseUrl: string,
    path = '/files/uploadsession',
    connectionChange?: () => AbortSignal,
  ): (() => Promise<unknown>) =>
  () =>
    createSend(
      settingsOf(baseUrl),
      connectionChange && { connectionChange },
    )({
      method: 'POST',
      path,
      token: 'secret',
      signal: forever,
    });
const postTo =
  (baseUrl: string): (() => Promise<unknown>) =>
  () =>
    createPost(settingsOf(baseUrl))('/auth/token', {}, options);

/** Makes requests one after the other. Resolves with the warnings. */
async function warningsOf(...requests: readonly (() => Promise<unknown>)[]): Promise<readonly string[]> {
  let found: readonly string[] = [];
  await captureWarnings(async (warnings) => {
    found = warnings;
    for (const request of requests) await request().catch(() => undefined);
    await explained();
  });
  return found;
}
const times = <T>(count: number, value: T): T[] => new Array(count).fill(value);
const messageOf = (url: string, more = ''): string =>
  `secure-uploader: No answer from ${url}. Check base-url, CORS and connect-src.${more}`;

describe('the console', () => {
  it('names the origin after the third request without a response, once, whatever the operation', async () => {
    const url = nowhere();
    expect(await warningsOf(sendTo(url), postTo(url))).to.deep.equal([]);
    expect(await warningsOf(sendTo(url, '/files/uploadsession/chunks'))).to.deep.equal([messageOf(url)]);
    expect(await warningsOf(...times(9, sendTo(url)))).to.deep.equal([]);
  });

  it('counts requests that fail together once', async () => {
    const url = nowhere();
    const together = (): Promise<unknown> => Promise.allSettled(times(9, sendTo(url)).map((send) => send()));
    expect(await warningsOf(together, together)).to.deep.equal([]);
    expect(await warningsOf(together)).to.deep.equal([messageOf(url)]);
  });

  it('names it again in the next outage, and not if there was a response in between', async () => {
    const url = nowhere();
    const answered = async (): Promise<void> => {
      globalThis.fetch = async () => new Response('{}', { status: 500 });
      await sendTo(url)();
      globalThis.fetch = nativeFetch;
    };
    const fails = sendTo(url);
    expect(await warningsOf(fails, fails, answered, fails, fails)).to.deep.equal([]);
    expect(await warningsOf(fails, answered, fails, fails, fails)).to.deep.equal(times(2, messageOf(url)));
  });

  it('asks about https only where the service may have only http', async () => {
    const [http, https] = [nowhere(), nowhere('https')];
    expect(await warningsOf(...times(3, sendTo(https)))).to.deep.equal([
      messageOf(https, ' Is it https there, or http?'),
    ]);
    expect((await warningsOf(...times(3, sendTo(http))))[0]).not.to.contain('https');
  });

  it('names a header that a script of the page adds, and no value', async () => {
    const url = nowhere();
    globalThis.fetch = (input, init) => {
      const { headers } = init ?? {};
      if (headers instanceof Headers) headers.set('traceparent', 'secret-trace');
      return nativeFetch(input, init);
    };
    const [warning, ...others] = await warningsOf(...times(3, sendTo(url)));
    expect(warning).to.equal(messageOf(url, ' A script of this page adds the header traceparent.'));
    expect(others).to.deep.equal([]);
  });

  it('asks about headers if a script has replaced fetch, since they can be added unseen', async () => {
    const url = nowhere();
    globalThis.fetch = (...given) => nativeFetch(...given);
    expect(await warningsOf(...times(3, sendTo(url)))).to.deep.equal([
      messageOf(url, ' A script of this page has replaced fetch: does it add headers?'),
    ]);
  });

  it('is quiet about requests that a change of the network or the page has ended', async () => {
    const url = nowhere();
    const changed = sendTo(url, '/files', () => AbortSignal.abort());
    const aborted = (): Promise<unknown> =>
      createPost(settingsOf(url))('/auth/token', {}, { ...options, signal: AbortSignal.abort() });
    expect(await warningsOf(...times(4, changed), ...times(4, aborted))).to.deep.equal([]);
  });

  it('names a storage that gives no response to PUTs', async () => {
    const url = `${nowhere()}/chunk?signature=secret`;
    const hosts = createHosts();
    const put = (): Promise<unknown> =>
      readabilityOf(hosts(url).evidence, new URL(url), 10).explain(0, forever);
    expect(await warningsOf(...times(4, put))).to.deep.equal([
      `secure-uploader: No answer from ${new URL(url).origin}. Check the upload_url of the service, CORS and connect-src.`,
    ]);
  });
});

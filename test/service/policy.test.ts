// The page's Content Security Policy blocks the service or the storage.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { exchange } from '../../src/service/http.ts';
import { createPut } from '../../src/service/put.ts';
import { rejection } from '../support/collect.ts';
import { forever } from './reference.ts';

const BLOCKED = 'https://blocked.example';
const LISTED = 'https://listed.invalid';

const call = (url: string): Promise<unknown> => {
  const init = { method: 'POST', headers: new Headers(), credentials: 'same-origin' } as const;
  return rejection(exchange(new URL(url), init, { body: {}, timeoutMs: 60_000, signal: forever }));
};

const put = (url: string): Promise<unknown> =>
  rejection(
    createPut({ baseUrl: BLOCKED })({ url, method: 'PUT', headers: {} }, new Blob(['abc']), {
      signal: forever,
    }),
  );

const BY_POLICY = {
  code: 'bad-config',
  message: `connect-src of the page's Content Security Policy needs ${BLOCKED}`,
};

describe('a policy that does not list the address', () => {
  before(() => {
    const { host } = location;
    const policy = document.createElement('meta');
    policy.httpEquiv = 'Content-Security-Policy';
    policy.content = `connect-src 'self' ws://${host} ${LISTED}`;
    document.head.append(policy);
  });

  it('is named as the cause of a failed call', async () => {
    expect(await call(`${BLOCKED}/files/uploadsession`))
      .to.be.instanceOf(UploaderError)
      .and.include(BY_POLICY);
  });

  it('is named as the cause of a failed PUT', async () => {
    expect(await put(`${BLOCKED}/bucket/object?signature=1`)).to.include(BY_POLICY);
  });

  it('is not named for an address that it lists', async () => {
    expect(await call(`${LISTED}/files/uploadsession`)).to.include({ code: 'network' });
    expect(await put(`${LISTED}/bucket/object?signature=1`)).to.include({ code: 'network' });
  });

  it('is not named because of other requests of the page', async () => {
    const failed = call(`${LISTED}/files/uploadsession`);
    await fetch(`${BLOCKED}/beacon`).catch(() => undefined);
    expect(await failed).to.include({ code: 'network' });
  });
});

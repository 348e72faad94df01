// Allowed URLs of requests with a token and of uploads, and limits for responses.

import { expect } from '@open-wc/testing';
import { resolveUrl } from '../../src/core/addresses.ts';
import { nextTask } from '../../src/core/wait.ts';
import { createSend, isBelow, isSafeUrl } from '../../src/service/http.ts';
import { rejection } from '../support/collect.ts';
import { addFault, findReference, forever, logOf, tokenOf, uniqueName } from './reference.ts';

const base = 'https://s.example/api';

describe('a privileged request', () => {
  it('stays below the base URL', () => {
    for (const path of [
      '/files',
      'files',
      '/files/x?y=1',
      '//evil.example/x',
      `${base}/files`,
      '/a/b.c/..d/',
      '/\\evil',
    ]) {
      expect(isBelow(base, resolveUrl(base, path)), path).to.equal(true);
    }
  });

  it('goes to no other host, path or scheme, however it is written', () => {
    for (const path of [
      'https://s.example.evil/',
      'https://s.example.evil/api/files',
      'https://s.example/other',
      'https://s.example/api-evil',
      'https://s.example/',
      'https://s.example:8443/api/files',
      'http://s.example/api/files',
      'https://user@s.example/api/files',
      'https://user:word@s.example/api/files',
      'https://s.example/API/files',
      '/../other',
      '/%2e%2e/other',
      '/..%2fother',
      '/%2e%2e%2fother',
      '/%252e%252e%252fother',
      '/x/..%5c..%5cother',
      '/.%2E;/other',
      '/%2e%2e',
      '/x\\..\\..\\..\\other',
      '/%',
    ]) {
      expect(isBelow(base, resolveUrl(base, path)), path).to.equal(false);
    }
  });

  it('is rejected before anything is sent', async () => {
    const { baseUrl } = await findReference();
    const settings = { baseUrl: `${baseUrl}/api`, authHeader: 'Authorization', authScheme: 'Bearer' };
    const fileName = uniqueName();
    const body = { parent_id: 'folder-a', file_name: fileName, file_size: 1 };
    const secrets = [
      { token: await tokenOf('alice') },
      { token: undefined, headers: { 'x-service-uploadsession': 'secret' } },
    ];
    for (const secret of secrets)
      for (const path of ['/../files/uploadsession', `${baseUrl}/files/uploadsession`]) {
        const request = createSend(settings)({ method: 'POST', path, ...secret, body, signal: forever });
        expect(await rejection(request), Object.keys(secret).join()).to.include({ code: 'bad-config' });
      }
    expect(await logOf({ fileName })).to.deep.equal([]);
  });

  it('does not contain the token in an error if it is invalid in a header', async () => {
    const { baseUrl } = await findReference();
    const send = createSend({ baseUrl, authHeader: 'Authorization', authScheme: 'Bearer' });
    const request = send({ method: 'POST', path: '/files', token: 'se\ncret', signal: forever });
    const error = await rejection(request);
    expect(error).to.include({ code: 'bad-config' });
    expect(`${error.message} ${String(error.cause)}`).not.to.include('cret');
  });

  it('reads no more of a response than its limit', async () => {
    const { baseUrl } = await findReference();
    const send = createSend({ baseUrl, authHeader: 'Authorization', authScheme: 'Bearer' });
    const request = {
      method: 'POST',
      path: '/auth/token',
      token: undefined,
      body: {},
      signal: forever,
    } as const;
    expect((await send(request)).status).to.equal(400);
    expect(await rejection(send({ ...request, maxBytes: 10 }))).to.include({ code: 'bad-response' });
  });

  it('has a longer timeout for long bodies, such as the commit of ten thousand chunks', async () => {
    const { baseUrl } = await findReference();
    const settings = { baseUrl, authHeader: 'Authorization', authScheme: 'Bearer' };
    const send = createSend(settings, { timeoutMs: 1 });
    const request = { method: 'POST', path: '/auth/token', token: undefined, signal: forever } as const;
    const long = { grant_type: 'x'.repeat(900_000) };
    expect((await send({ ...request, body: long })).status).to.be.within(400, 499);
  });

  it('is a network error immediately when the network changes while it waits', async () => {
    const { baseUrl } = await findReference();
    const fileName = uniqueName();
    await addFault({ operation: 'session', match: { fileName }, stall: true });
    const connectionChange = (): AbortSignal => {
      const line = new AbortController();
      void nextTask().then(() => line.abort());
      return line.signal;
    };
    const send = createSend(
      { baseUrl, authHeader: 'Authorization', authScheme: 'Bearer' },
      { connectionChange },
    );
    const body = { parent_id: 'folder-a', file_name: fileName, file_size: 1 };
    const token = await tokenOf('alice');
    const path = '/files/uploadsession';
    const request = send({ method: 'POST', path, token, body, signal: forever });
    expect(await rejection(request)).to.include({ code: 'network' });
  });
});

describe('an upload URL', () => {
  it('is https, or http on this machine while the service is on this machine', () => {
    const cases: [string, string, boolean][] = [
      ['https://s.example', 'https://storage.example/x', true],
      ['https://s.example', 'http://storage.example/x', false],
      ['https://s.example', 'http://127.0.0.1/x', false],
      ['http://localhost:1', 'http://127.0.0.1:2/x', true],
      ['http://localhost:1', 'http://storage.example/x', false],
      ['http://localhost:1', 'ftp://localhost/x', false],
    ];
    for (const [baseUrl, url, isSafe] of cases)
      expect(isSafeUrl(baseUrl, new URL(url)), url).to.equal(isSafe);
  });
});

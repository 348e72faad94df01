// The page's Content Security Policy blocks the service or the storage.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { Ticket, TicketUpload } from '../../src/core/types.ts';
import { exchange } from '../../src/service/http.ts';
import { createPut } from '../../src/service/put.ts';
import { freshFile, sha256 } from '../support/bytes.ts';
import { rejection } from '../support/collect.ts';
import { addFault, callsOf, findReference, forever } from './reference.ts';

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
  before(async () => {
    const { host } = location;
    const { baseUrl, storageUrl } = await findReference();
    const reference = [baseUrl, storageUrl].map((url) => new URL(url).origin).join(' ');
    const policy = document.createElement('meta');
    policy.httpEquiv = 'Content-Security-Policy';
    policy.content = `connect-src 'self' ws://${host} ${LISTED} ${reference}; img-src 'self'`;
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

  it('is not named because of other resources of the same address', async () => {
    const url = `${LISTED}/files/uploadsession`;
    const failed = call(url);
    const image = new Image();
    const violation = new Promise((resolve) =>
      document.addEventListener('securitypolicyviolation', resolve, { once: true }),
    );
    image.src = url;
    await violation;
    expect(await failed).to.include({ code: 'network' });
  });

  it('is not named if the storage redirects to an address that it does not list', async () => {
    const file = freshFile(100_000);
    const calls = await callsOf();
    const session = await calls.openSession(
      { parentId: 'folder-a', fileName: file.name, fileSize: file.size },
      forever,
    );
    const hash = await sha256(file);
    const tickets = await calls.presign(session, [{ hash, sizeBytes: file.size }], forever);
    const { upload } = tickets.get(hash) as Ticket;
    await addFault({ operation: 'put', match: { hash }, redirect: `${BLOCKED}/elsewhere` });
    const send = createPut({ baseUrl: (await findReference()).baseUrl });
    const error = await rejection(send(upload as TicketUpload, file, { signal: forever }));
    expect(error).to.include({ code: 'network' });
  });
});

// Requests of sign-in to the reference service.

import { expect } from '@open-wc/testing';
import { createPost } from '../../src/service/client.ts';
import { rejection } from '../support/collect.ts';
import { addFault, forever, referenceSettings, uniqueName } from './reference.ts';

describe('a sign-in call', () => {
  const options = { credentials: 'same-origin', signal: forever } as const;

  it('returns the response of the service, whatever the status', async () => {
    const post = createPost(await referenceSettings());
    const answer = await post('/auth/token', { code: 'made-up', code_verifier: 'x'.repeat(43) }, options);
    expect(answer.status).to.be.within(400, 401);
    expect(answer.body).to.be.an('object');
  });

  it('goes below the base URL, or to a whole URL that the page set, but there never with the bearer', async () => {
    const { baseUrl } = await referenceSettings();
    const post = createPost({ baseUrl: `${baseUrl}/api`, authHeader: 'Authorization' });
    const whole = await post(`${baseUrl}/auth/token`, {}, options);
    expect(whole.status).to.equal(400);
    const headers = { authorization: 'Bearer secret' };
    const postRenamed = createPost({ baseUrl: `${baseUrl}/api`, authHeader: 'X-Token' });
    for (const request of [
      post(`${baseUrl}/auth/token`, {}, { ...options, headers }),
      postRenamed(`${baseUrl}/auth/token`, {}, { ...options, headers: { 'x-token': 'secret' } }),
      post('/../auth/token', {}, options),
      post('http://elsewhere.example/token', {}, options),
    ]) {
      expect(await rejection(request)).to.include({ code: 'bad-config' });
    }
  });

  it('returns the delay of the header', async () => {
    const fileName = uniqueName();
    const headers = { 'retry-after': '3', 'www-authenticate': 'Bearer' };
    await addFault({ operation: 'session', match: { fileName }, status: 429, headers, body: '<p>Busy' });
    const post = createPost(await referenceSettings());
    const answer = await post('/files/uploadsession', { file_name: fileName }, options);
    expect(answer).to.deep.include({
      status: 429,
      body: undefined,
      retryAfterMs: 3000,
      wwwAuthenticate: 'Bearer',
    });
  });

  it('returns the delay of the body, however long', async () => {
    const post = createPost(await referenceSettings());
    const pauseOf = async (body: object, headers: object = {}): Promise<number | undefined> => {
      const fileName = uniqueName();
      await addFault({ operation: 'session', match: { fileName }, status: 429, headers, body });
      return (await post('/files/uploadsession', { file_name: fileName }, options)).retryAfterMs;
    };
    expect(await pauseOf({ retry_after: 7 })).to.equal(7000);
    expect(await pauseOf({ retry_after: '7' })).to.equal(7000);
    expect(await pauseOf({ retry_after: [7] })).to.equal(undefined);
    expect(await pauseOf({ retry_after: 7 }, { 'retry-after': '3600' })).to.equal(3_600_000);
  });

  it('rejects without a response', async () => {
    const post = createPost({ baseUrl: 'http://localhost:1', authHeader: 'Authorization' });
    expect(await rejection(post('/auth/token', {}, options))).to.include({ code: 'network' });
  });
});

// Answers of a storage that make no sense: whatever comes, a chunk counts as sent only with 2xx, and all else is an error of ours
// that is worth a fresh ticket.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { isRetryable, UploaderError } from '../../src/core/errors.ts';
import { createPut } from '../../src/service/put.ts';
import { status, text } from '../support/junk-answers.ts';
import { addFault, findReference, forever, rejection } from './reference.ts';

it('an answer without sense ends a PUT at once, and only 2xx is a success', async () => {
  const { baseUrl, storageUrl } = await findReference();
  const put = createPut({ baseUrl, stallMs: 5000 });
  const body = new Blob(['some bytes']);
  let count = 0;
  const check = async (status: number, text: string, retryAfter: string): Promise<void> => {
    count += 1;
    const hash = count.toString(16).padStart(64, 'f');
    const headers = { 'retry-after': retryAfter };
    await addFault({ operation: 'put', match: { hash }, times: -1, status, body: text, headers });
    const upload = {
      url: `${storageUrl}/chunks/someone/${hash}`,
      method: 'PUT' as const,
      headers: {},
      receivedAtMs: 0,
    };
    const sent = put(upload, body, { signal: forever });
    if (status >= 200 && status < 300) {
      await sent;
      return;
    }
    const error = await rejection(sent);
    expect(error).to.be.instanceOf(UploaderError);
    expect(isRetryable(error as UploaderError)).to.equal(true);
    expect((error as UploaderError).retryAfterMs ?? 0).to.be.within(0, 300_000);
  };
  const retryAfter = fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    'soon',
    'Fri, 31 Feb 2025 25:61:61 GMT',
    '9'.repeat(30),
  );
  await fc.assert(fc.asyncProperty(status, text, retryAfter, check), { numRuns: 150 });
});

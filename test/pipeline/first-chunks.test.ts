// The only chunk of a small file, whose hash its session may wait for (`batch-path`).

import { expect } from '@open-wc/testing';
import type { Calls } from '../../src/core/types.ts';
import { fileOf } from '../support/bytes.ts';
import { CHUNK_BYTES, hashesOf, setUpRun } from '../support/running.ts';

describe('a file of one chunk', () => {
  for (const sizeBytes of [CHUNK_BYTES, 1, 0])
    it(`of ${sizeBytes} bytes gives its session its chunk, and is read once`, async () => {
      const file = fileOf(20, sizeBytes);
      const { parts, reads, service, start } = setUpRun(file);
      const { openSession } = service.calls;
      let given: readonly object[] | undefined;
      const calls: Calls = {
        ...service.calls,
        openSession: async (input, signal) => {
          given = await input.firstChunks?.();
          return openSession(input, signal);
        },
      };
      Object.assign(parts, { calls });
      service.answerAll();
      await start();
      const chunks = (await hashesOf(file)).map((hash) => ({ hash, sizeBytes }));
      expect(given).to.deep.equal(sizeBytes > 0 ? chunks : []);
      expect(reads).to.deep.equal([sizeBytes]);
    });
});

describe('tickets that come with a session', () => {
  it('are no success of a request to the service, and are taken once', async () => {
    const file = fileOf(20, CHUNK_BYTES);
    const { parts, service, start } = setUpRun(file);
    const { retrying } = parts;
    const takenFrom: string[] = [];
    let callCount = 0;
    Object.assign(parts, {
      calls: {
        ...service.calls,
        takeTickets: ({ header }, chunks) => {
          takenFrom.push(header);
          return service.tickets(chunks.map(({ hash }) => hash));
        },
      } satisfies Calls,
      retrying: ((call, ...given) => {
        callCount += 1;
        return retrying(call, ...given);
      }) satisfies typeof retrying,
    });
    service.answerAll();
    const { session } = await start();
    expect(takenFrom).to.deep.equal([session.header]);
    expect(service.count('presign')).to.equal(0);
    // Open and commit.
    expect(callCount).to.equal(2);
  });
});

describe('a file whose session does not wait', () => {
  for (const [what, sizeBytes, hasRecord] of [
    ['several chunks', CHUNK_BYTES + 1, false],
    ['a record', CHUNK_BYTES, true],
  ] as const)
    it(`is one with ${what}`, async () => {
      const { service, start } = setUpRun(fileOf(20, sizeBytes), { hasRecord });
      const running = start();
      const opened = await service.nextRequest('open');
      expect(opened.firstChunks).to.equal(undefined);
      opened.answer();
      service.answerAll();
      await running;
    });
});

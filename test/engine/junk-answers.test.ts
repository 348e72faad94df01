// A service whose responses become invalid after some calls: no incomplete upload is reported as completed.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { connect } from '../../src/engine/connection.ts';
import { fileOf } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { until } from '../support/collect.ts';
import { status, text } from '../support/junk-answers.ts';
import { firstSeed } from '../support/scope.ts';
import { world } from '../support/world.ts';

const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});

interface Said {
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

const json = (value: object): { status: number; text: string } => ({
  status: 200,
  text: JSON.stringify(value),
});

/** Returns the valid response to a request. */
async function inOrder(path: string, request: Request): Promise<Pick<Said, 'status' | 'text'>> {
  if (path === '/commit') return json({ file_id: 'file-1' });
  if (!path.endsWith('/chunks')) return json({ session_id: 'session-1' });
  const { hashes } = (await request.json()) as { hashes: string[] };
  const entry = (hash: string) => ({ receipt: `of ${hash}`, upload_url: `https://store.test/${hash}` });
  return json({ chunks: Object.fromEntries(hashes.map((hash) => [hash, entry(hash)])) });
}

/**
 * Replaces `fetch` by a service: the first `callCount` responses are valid, the later ones repeat `junk`. Returns a growing list
 * of all responses.
 */
function serveSense(callCount: number, junk: readonly Pick<Said, 'status' | 'text'>[]): readonly Said[] {
  const said: Said[] = [];
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    const given = junk[said.length % junk.length];
    const answer = said.length < callCount || !given ? await inOrder(path, request) : given;
    const isBare = [204, 205, 304].includes(answer.status);
    const shown = isBare ? '' : answer.text;
    said.push({ path, status: answer.status, text: shown });
    return new Response(isBare ? null : shown, { status: answer.status });
  };
  return said;
}

const isOk = ({ status }: Said): boolean => status >= 200 && status < 300;

it('a service with invalid responses completes no upload without a receipt for each chunk and a successful commit', async () => {
  speedUp(10);
  const ends = { done: 0, failed: 0 };
  const junk = fc.array(fc.record({ status, text }), { minLength: 1, maxLength: 4 });
  const check = async (callCount: number, answers: readonly Pick<Said, 'status' | 'text'>[]) => {
    const said = serveSense(callCount, answers);
    const engine = world({
      noResume: true,
      cancelPath: undefined,
      // By default, a commit is repeated for an hour after a 202.
      commitDeadlineMs: 1,
      connect: (...given) => ({ ...connect(...given), put: async () => undefined }),
    });
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    // True if the next retry is more than a second away. The test does not wait that long.
    const waits = (): boolean => (engine.row('a.bin')?.retryAtMs ?? 0) > Date.now() + 1000;
    await until(() => engine.changeNames().some((name) => /completed|failed$/.test(name)) || waits());
    for (const { chunks } of engine.details('upload-completed')) {
      const tickets = said.filter((each) => each.path.endsWith('/chunks') && isOk(each));
      for (const { receipt } of chunks)
        expect(tickets.some((each) => each.text.includes(JSON.stringify(receipt)))).to.equal(true);
      expect(said.at(-1)?.path).to.equal('/commit');
      expect(isOk(said.at(-1) as Said)).to.equal(true);
      expect(chunks).to.have.length(3);
      ends.done += 1;
    }
    ends.failed += engine.details('upload-failed').length;
    await engine.uploader.close();
  };
  await fc.assert(fc.asyncProperty(fc.nat(6), junk, check), { numRuns: 30, seed: firstSeed });
  expect(ends.done).to.be.greaterThan(0);
  expect(ends.failed).to.be.greaterThan(3);
});

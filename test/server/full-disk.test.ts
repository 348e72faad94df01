// A full disk: what the upload operations respond, and that uploads continue when there is space.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { login } from './sign-in-steps.ts';
import { type Answer, actAs, ask, begin, fillDisk, put, randomChunks, startRig } from './support.ts';

for (const code of ['ENOSPC', 'EDQUOT'] as const)
  test(`all that an upload writes gets 507 without Retry-After on a full disk (${code}), and continues with space`, async (t) => {
    const rig = await startRig();
    t.after(() => rig.end());
    const alice = await actAs(rig.service, 'alice');
    const [first = new Uint8Array(), second = new Uint8Array()] = randomChunks(300, 200);
    const { passport, hashes, receipts, urls } = await begin(alice, [first, second]);
    const send = (index: number, chunk: Uint8Array): Promise<Response> => put(urls[index] ?? '', chunk);
    const open = (): Promise<Answer> => alice.open({ size: 1 });
    const commit = (): Promise<Answer> => alice.commit(passport, hashes, receipts);
    const cancel = (session: string): Promise<Answer> =>
      ask(rig.service, 'DELETE', '/files/uploadsession', {
        headers: { authorization: `Bearer ${alice.token}`, 'x-service-uploadsession': session },
      });
    assert.equal((await send(0, first)).status, 200);

    let empty = await fillDisk(code);
    const full = await send(1, second);
    const refusals = [
      { status: full.status, headers: full.headers, body: await full.json() },
      await open(),
      await cancel(passport),
    ];
    empty();
    assert.equal((await send(1, second)).status, 200);
    empty = await fillDisk(code);
    refusals.push(await commit());
    empty();
    for (const { status, headers, body } of refusals) {
      assert.equal(status, 507);
      assert.equal(headers.get('retry-after'), null);
      assert.deepEqual(body, { debuginfo: 'no space left' });
    }
    assert.equal((await commit()).status, 200);
    const { status, headers } = await open();
    assert.equal(status, 201);
    assert.equal((await cancel(headers.get('x-service-uploadsession') ?? '')).status, 204);
  });

test('a sign-in on a full disk gets 503, and works with space', async (t) => {
  const rig = await startRig();
  t.after(() => rig.end());
  const signIn = (): Promise<Answer> => login(rig.service, 'alice@example.com', rig.service.seed.password);
  const empty = await fillDisk();
  const { status, body } = await signIn();
  empty();
  assert.deepEqual([status, body.error_description], [503, 'no space left']);
  assert.equal((await signIn()).status, 200);
});

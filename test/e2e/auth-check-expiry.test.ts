// A journey, because it needs a real window, and the six connections that a browser has to a host.
// The token expires while chunks are being sent, and no hidden frame can renew the token: the user has to sign in once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { assertStoredOnce, begin, CHUNK_COUNT, endMs, HELD_COUNT, SETTINGS } from './support/auth-expiry.ts';
import { isGone, panel, signInButton } from './support/auth-steps.ts';
import { BOTH_AT_FULL_SIZE, inWorlds, world } from './support/auth-world.ts';
import { untilEvent } from './support/browser.ts';

inWorlds({ sites: BOTH_AT_FULL_SIZE }, () => {
  test('given a token that expires mid-upload and no silent channel, then running PUTs finish, the queue pauses, one sign-in resumes it, and no stored chunk is sent again', async () => {
    const page = await world.open(`${SETTINGS} silent="off"`);
    const sha256 = await begin(page, world);
    await panel(page, 'prompt').waitFor();
    // PUTs that were running when the token expired complete, although the user is not signed in.
    await untilEvent(page, 'upload-paused');
    await until(
      () => world.count('put') >= HELD_COUNT && world.entries('put').every(({ answered }) => answered),
    );
    const puts = world.entries('put');
    const finished = puts.filter(({ stored, answeredAt = 0 }) => stored && answeredAt > endMs(world));
    assert.ok(finished.length >= HELD_COUNT, 'they ended after the token had expired');
    assert.ok(puts.length < CHUNK_COUNT, 'the queue is paused');
    assert.equal(puts.filter(({ stored }) => stored).length, puts.length);
    assert.equal(world.count('token'), 1);
    const [window] = await Promise.all([page.waitForEvent('popup'), signInButton(page).click()]);
    await isGone(window);
    await assertStoredOnce(page, world, sha256);
    assert.equal(world.count('token'), 2, 'one sign-in');
    assert.equal(world.count('session'), 1, 'the upload went on in its session');
  });
});

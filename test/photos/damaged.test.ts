// Damaged photos are refused, or lose their location; they never cause an exception.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed, isFullSize } from '../../scripts/scope.mjs';
import { CAMERAS } from './cameras.ts';
import { PROGRAMS } from './programs.ts';
import { type Bytes, heic, littleEndian, png, progressive, showsCoordinates, strip } from './support.ts';

const photos = {
  'little-endian.jpg': littleEndian,
  'progressive.jpg': progressive,
  'photo.png': png,
  'photo.heic': heic,
  'fujifilm.jpg': CAMERAS['fujifilm.jpg'],
  'iphone.heic': CAMERAS['iphone.heic'],
  'android-screenshot.png': PROGRAMS['android-screenshot.png'],
  'cwebp.webp': PROGRAMS['cwebp.webp'],
  'sticker.webp': PROGRAMS['sticker.webp'],
  'photoshop.gif': PROGRAMS['photoshop.gif'],
};
const RUNS = isFullSize ? 20_000 : 300;
/** Runs with a photo that is laid out as another one is: in the gate, a few. */
const LAYOUT_RUNS = isFullSize ? RUNS : 60;
const isLayout = (name: string): boolean => name in CAMERAS || name in PROGRAMS;

/** Returns pseudo-random integers (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

async function assertHidden(bytes: Bytes, name: string, what: string): Promise<boolean> {
  const result = await strip(bytes, name);
  if (result === 'unsupported') return false;
  assert.ok(!showsCoordinates(new Uint8Array(await result.arrayBuffer())), `${name}, ${what}`);
  return true;
}

for (const [name, bytes] of Object.entries(photos)) {
  test(`${name}, truncated anywhere, is refused or has no location`, async () => {
    assert.ok(showsCoordinates(bytes));
    for (let length = 0; length < bytes.length; length += 97)
      await assertHidden(bytes.slice(0, length), name, `${length} bytes`);
  });

  test(`${name} with random changes is refused or has no location`, async () => {
    const random = randomFrom(firstSeed);
    const runs = isLayout(name) ? LAYOUT_RUNS : RUNS;
    let cleaned = 0;
    for (let run = 0; run < runs; run++) {
      const changed = bytes.slice();
      const changes: string[] = [];
      // Most structures are at the start.
      const end = random(2) ? 1200 : bytes.length;
      for (let left = 1 + random(4); left > 0; left--) {
        const at = random(end);
        changed[at] = random(3) ? random(256) : (changed[at] ?? 0) ^ (1 << random(8));
        changes.push(`${at}: ${changed[at]}`);
      }
      if (await assertHidden(changed, name, changes.join(', '))) cleaned += 1;
    }
    assert.ok(cleaned > runs / 20 && cleaned < runs, `${cleaned} photos were cleaned`);
  });
}

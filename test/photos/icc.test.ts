// Color profiles: what is kept of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanIcc } from '../../src/photos/icc.ts';
import { cleanProfile, curve, description, profile, profileOf, TAGS, type Tags } from './profile.ts';
import { type Bytes, bytesOf, has, integer, join } from './support.ts';

const SECRET = bytesOf('48.8584');

/** Returns what is kept of a copy; `undefined` for a malformed profile. */
function cleaned(before: Uint8Array): Bytes | undefined {
  const copy = new Uint8Array(before);
  const length = cleanIcc(copy);
  return length > 0 ? copy.subarray(0, length) : undefined;
}

test('keeps what colors need, with its length, and no texts', () => {
  assert.ok(has(profile, SECRET));
  assert.deepEqual(cleaned(profile), cleanProfile);
  assert.deepEqual(cleaned(cleanProfile), cleanProfile);
  assert.deepEqual(cleaned(join(profile, SECRET)), cleanProfile);
});

test('keeps nothing behind a curve, between tags, in the reserved bytes, and at the end', () => {
  const long = (content: Uint8Array) => join(content, SECRET);
  const tags: Tags = TAGS.map(([name, content]) => [name, name === 'rTRC' ? long(content) : content]);
  const reserved = profile.slice();
  reserved.set(SECRET, 100);
  const shifted = profileOf([...TAGS, ['dmnd', join(SECRET)], ['vcgt', join(SECRET)]]);
  for (const before of [profileOf(tags), profileOf(TAGS, [...SECRET]), reserved, shifted]) {
    const after = cleaned(before);
    assert.ok(after && has(before, Uint8Array.from(SECRET)));
    assert.equal(after.length, before.length);
    assert.ok(!has(after, Uint8Array.from(SECRET)));
    assert.ok(has(after, curve));
  }
});

test('keeps no tag of an unknown type, in a text, or of another use', () => {
  const start = 132 + 12 * TAGS.length;
  const inText = profile.slice();
  inText.set(integer(start + description.length - 8, 4), 132 + 12 + 4);
  const after = cleaned(inText);
  assert.ok(after && !has(after, Uint8Array.from(bytesOf('wtpt'))));
  const wrong = cleaned(profileOf([['rTRC', join(bytesOf('text\0\0\0\0'), SECRET)]]));
  assert.ok(wrong && !has(wrong, Uint8Array.from(SECRET)) && !has(wrong, Uint8Array.from(bytesOf('rTRC'))));
  const black = cleaned(profileOf([['bkpt', TAGS[1]?.[1] ?? curve]]));
  assert.ok(black && has(black, Uint8Array.from(bytesOf('bkpt'))));
});

test('empties the names that some programs want to see, and those of makers', () => {
  const old = join(bytesOf('desc\0\0\0\0'), integer(8, 4), SECRET, new Uint8Array(80));
  const unicode = join(
    bytesOf('mluc\0\0\0\0'),
    [0, 0, 0, 1, 0, 0, 0, 12, 101, 110, 85, 83, 0, 0, 0, 14, 0, 0, 0, 28],
    SECRET,
    SECRET,
  );
  const text = join(bytesOf('text\0\0\0\0'), SECRET);
  for (const [name, content] of [
    ['desc', old],
    ['desc', unicode],
    ['cprt', text],
    ['cprt', unicode],
  ] as const) {
    const after = cleaned(profileOf([[name, content]]));
    assert.ok(after && has(after, content.subarray(0, 4)) && !has(after, Uint8Array.from(SECRET)), name);
  }
  const named = profile.slice();
  for (const at of [4, 40, 48, 56, 80, 84]) named.set(bytesOf('48.8'), at);
  assert.deepEqual(cleaned(named), cleanProfile);
});

test('reads the length of each kind of numbers', () => {
  const start = (type: string) => [...bytesOf(type), 0, 0, 0, 0];
  const kinds: Tags = [
    ['chad', join(start('sf32'), new Uint8Array(36).fill(7))],
    ['cicp', join(start('cicp'), [1, 2, 3, 1])],
    ['kTRC', join(start('para'), [0, 3, 0, 0], new Uint8Array(20).fill(7))],
    ['A2B0', join(start('mft1'), [1, 1, 2, 0], new Uint8Array(36), new Uint8Array(256 + 2 + 256).fill(7))],
    [
      'A2B1',
      join(
        start('mft2'),
        [2, 1, 2, 0],
        new Uint8Array(36),
        [0, 3, 0, 2],
        new Uint8Array(2 * (6 + 4 + 2)).fill(7),
      ),
    ],
    ['A2B2', join(start('mAB '), new Uint8Array(40).fill(7))],
  ];
  for (const [name, content] of kinds) {
    const before = profileOf([[name, content]]);
    assert.deepEqual(cleaned(before), before, name);
    if (name === 'A2B2') continue;
    const after = cleaned(profileOf([[name, join(content, SECRET)]]));
    assert.ok(after && has(after, content) && !has(after, Uint8Array.from(SECRET)), name);
    const short = cleaned(profileOf([[name, content.subarray(0, -1)]]));
    assert.ok(short && !has(short, Uint8Array.from([...bytesOf(name)])), name);
  }
});

test('returns zero for a profile that is malformed', () => {
  const changed = (at: number, bytes: readonly number[]): Bytes => {
    const copy = profile.slice();
    copy.set(bytes, at);
    return copy;
  };
  const wrong = {
    'another length': changed(0, integer(profile.length + 1, 4)),
    'another signature': changed(36, [...bytesOf('ACSP')]),
    'more tags than it has': changed(128, integer(101, 4)),
    'very many tags': changed(128, integer(0xffffffff, 4)),
    'a tag outside': changed(132 + 12 + 4, integer(profile.length - 4, 4)),
    'a tag in the table': changed(132 + 12 + 4, integer(140, 4)),
    'no bytes': new Uint8Array(),
  };
  for (const [what, bytes] of Object.entries(wrong)) assert.equal(cleaned(bytes), undefined, what);
});

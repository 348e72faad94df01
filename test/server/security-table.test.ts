// The table in SECURITY.md and the mutations for it have the same rules and tests, and every mutation matches the code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mutations } from '../../scripts/security-mutations.mjs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const rows = read('SECURITY.md')
  .split('\n')
  .flatMap((line) => {
    const [, rule = ''] = /^\| ([A-Z]\d+) \|/.exec(line) ?? [];
    const [, file, title] = /`(test\/[\w./-]+)` “([^”]+)”/.exec(line) ?? [];
    const [, same] = /\| see ([A-Z]\d+) \|$/.exec(line) ?? [];
    return rule ? [{ rule, shown: `${file} ${title}`, same }] : [];
  });

test('every attack, every rule of sign-in, of the file keeper and of the reference service has a mutation, which names its first test', () => {
  assert.ok(rows.length >= 20 + 17 + 24 + 7);
  const own = rows.filter(({ same }) => !same).map(({ rule, shown }) => `${rule} ${shown}`);
  assert.deepEqual(
    own.sort(),
    mutations.map(({ rule, test: file, title }) => `${rule} ${file} ${title}`).sort(),
  );
});

test('an attack that shares the mutation of a rule has the same first test', () => {
  for (const { rule, shown, same } of rows.filter(({ same }) => same))
    assert.equal(shown, rows.find((other) => other.rule === same)?.shown, rule);
});

test('every mutation matches the code once', () => {
  for (const { rule, file, before, after } of mutations) {
    assert.equal(read(file).split(before).length, 2, `${rule}: ${file}`);
    assert.notEqual(before, after);
  }
});

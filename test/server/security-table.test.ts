// The table in SECURITY.md and the mutations for it have the same rules and tests, and every mutation matches the code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mutations } from '../../scripts/security-mutations.mjs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every rule of sign-in, of the file keeper and of the reference service has a mutation, which names its first test', () => {
  const rows = [...read('SECURITY.md').matchAll(/^\| ([SRK]\d+) \|.*?`(test\/[\w./-]+)` “([^”]+)”/gm)];
  assert.ok(rows.length >= 17 + 24 + 7);
  const shown = rows.map(([, rule, file, title]) => `${rule} ${file} ${title}`).sort();
  assert.deepEqual(shown, mutations.map(({ rule, test: file, title }) => `${rule} ${file} ${title}`).sort());
});

test('every mutation matches the code once', () => {
  for (const { rule, file, before, after } of mutations) {
    assert.equal(read(file).split(before).length, 2, `${rule}: ${file}`);
    assert.notEqual(before, after);
  }
});

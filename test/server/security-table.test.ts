// The promises of SECURITY.md, and their evidence: rules with a test and a mutation that matches the code.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { evidence, readPromises } from '../../scripts/security-evidence.mjs';
import { mutations } from '../../scripts/security-mutations.mjs';

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const read = (path: string): string => readFileSync(at(path), 'utf8');

test('SECURITY.md says on two pages who is trusted and what is promised, and all of it on five', () => {
  assert.equal(readPromises().length, 10);
  const shown = read('SECURITY.md').replaceAll(/<!--.*?-->|```mermaid.*?```/gs, '');
  const countOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;
  const promises = shown.slice(shown.indexOf('## Who is trusted'), shown.indexOf('## What is stored'));
  assert.ok(countOf(promises) > 400 && countOf(promises) <= 800, `${countOf(promises)} words of promises`);
  assert.ok(countOf(shown) <= 2000, `${countOf(shown)} words`);
});

test('each threat names promises that hold against it, or what is left', () => {
  const rows = read('SECURITY.md').match(/^\| \*\*.+$/gm) ?? [];
  assert.ok(rows.length >= 8);
  for (const row of rows) {
    const [, , tries, holds = '', left = ''] = row.split('|').map((cell) => cell.trim());
    assert.ok(tries && left, row);
    for (const number of holds.match(/\d+/g) ?? [])
      assert.ok(Number(number) >= 1 && Number(number) <= 10, row);
  }
});

test('each rule of the widget belongs to one promise, and each promise has rules', () => {
  const promised = readPromises().flatMap(([, names]) => names);
  const rules = mutations.map(({ rule }) => rule).filter((rule) => !/^[RE]/.test(rule));
  assert.deepEqual(promised.toSorted(), rules.toSorted());
});

test('the evidence is current', () => {
  assert.equal(read('test/SECURITY-EVIDENCE.md'), evidence());
});

test('every rule has an existing test, and a mutation of behavior that matches the code once', () => {
  for (const { rule, says, test: file, title, file: source, before, after } of mutations) {
    assert.ok(existsSync(at(file)) && read(file).includes(title), `${rule}: ${file} “${title}”`);
    assert.ok(says.length > 10, rule);
    assert.match(source, /^(src|demo\/server|demo\/examples\/service-s3)\//, rule);
    assert.equal(read(source).split(before).length, 2, `${rule}: ${source}`);
    assert.notEqual(before, after);
  }
});

// Writes test/SECURITY-EVIDENCE.md: for each promise of SECURITY.md its rules, and for each rule the test that proves it, and the
// source that `npm run check:security` changes to make this test fail.
import { readFileSync, writeFileSync } from 'node:fs';
import { mutations } from './security-mutations.mjs';

const at = (path) => new URL(`../${path}`, import.meta.url);
const target = 'test/SECURITY-EVIDENCE.md';

/** Returns the promises of SECURITY.md: `[title, names of rules]`. A comment at the end of a promise names its rules. */
export function readPromises() {
  const text = readFileSync(at('SECURITY.md'), 'utf8');
  const found = text.matchAll(/^(\d+)\. \*\*(.+?)\*\*: .+?<!-- ((?:[A-Z]\d+ )+)-->$/gms);
  return [...found].map(([, number, title, names]) => [`${number}. ${title}`, names.trim().split(' ')]);
}

const table = (rules) => [
  '| Rule | What holds | Shown by | Changed by `npm run check:security` |',
  '| --- | --- | --- | --- |',
  ...rules.map(
    ({ rule, says, test, title, file }) => `| ${rule} | ${says} | \`${test}\` “${title}” | \`${file}\` |`,
  ),
];

/** Returns the text of the file. */
export function evidence() {
  const sections = readPromises().map(([title, names]) => [
    `## ${title}`,
    '',
    ...table(mutations.filter(({ rule }) => names.includes(rule))),
    '',
  ]);
  return [
    '# Evidence for SECURITY.md',
    '',
    '`scripts/security-evidence.mjs` writes this file from `scripts/security-mutations.mjs`. For each rule, `npm run check:security` changes',
    'the code in a copy of the project, and expects the test of the rule to fail.',
    '',
    ...sections.flat(),
    '## The reference service',
    '',
    ...table(mutations.filter(({ rule }) => rule.startsWith('R'))),
    '',
    '## The example service for S3',
    '',
    ...table(mutations.filter(({ rule }) => rule.startsWith('E'))),
    '',
  ].join('\n');
}

if (process.argv[1] === at('scripts/security-evidence.mjs').pathname) writeFileSync(at(target), evidence());

// The report for people.

import type { Report, Result } from './conform.ts';

const MARKS = { pass: 'ok  ', fail: 'FAIL', skip: 'skip' } as const;

function linesOf({ outcome, id, title, expected, received, setting, docs }: Result): string[] {
  const head = `${MARKS[outcome]} ${id}: ${title}`;
  if (outcome === 'skip') return [`${head} (${received})`];
  const how = setting ? [`       setting:  ${setting}`] : [];
  if (outcome === 'pass') return [head, ...how];
  return [
    head,
    `       expected: ${expected}`,
    `       received: ${received}`,
    ...how,
    `       see:      ${docs}`,
  ];
}

export function reportText({ results, passed, failed, skipped, html, profile }: Report): string {
  const settings = [html, ...(profile === '{}' ? [] : ['', `element.profile = ${profile};`])];
  return [
    ...results.flatMap(linesOf),
    '',
    failed === 0 ? 'These settings work with the service:' : 'The settings so far:',
    '',
    ...settings,
    '',
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
    '',
  ].join('\n');
}

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

const idsOf = (results: readonly Result[]): string =>
  results.flatMap(({ outcome, id }) => (outcome === 'fail' ? [id] : [])).join(', ');

export function reportText({ results, passed, failed, skipped, html, profile, unchecked }: Report): string {
  const settings = [html, ...(profile === '{}' ? [] : ['', `element.profile = ${profile};`])];
  return [
    ...results.flatMap(linesOf),
    '',
    !failed && !unchecked
      ? 'These settings work with the service:'
      : `The settings so far${unchecked && ` (${unchecked})`}:`,
    '',
    ...settings,
    '',
    ...(failed ? [`Failed: ${idsOf(results)}`] : []),
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
    '',
  ].join('\n');
}

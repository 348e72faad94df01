// The report for people.

import type { Report, Result } from './conform.ts';

const MARKS = { pass: 'ok  ', fail: 'FAIL', skip: 'skip' } as const;

function linesOf({ outcome, id, title, expected, received, setting, docs }: Result): string[] {
  const headline = `${MARKS[outcome]} ${id}: ${title}`;
  if (outcome === 'skip') return [`${headline} (${received})`];
  const settingLines = setting ? [`       setting:  ${setting}`] : [];
  if (outcome === 'pass') return [headline, ...settingLines];
  return [
    headline,
    `       expected: ${expected}`,
    `       received: ${received}`,
    ...settingLines,
    `       see:      ${docs}`,
  ];
}

const idsOf = (results: readonly Result[]): string =>
  results.flatMap(({ outcome, id }) => (outcome === 'fail' ? [id] : [])).join(', ');

export function reportText(report: Report): string {
  const { results, html, profile, unchecked } = report;
  const settings = [html, ...(profile === '{}' ? [] : ['', `element.profile = ${profile};`])];
  return [
    ...results.flatMap(linesOf),
    '',
    !report.failed && !unchecked
      ? 'These settings work with the service:'
      : `The settings so far${unchecked && ` (${unchecked})`}:`,
    '',
    ...settings,
    '',
    ...(report.failed ? [`Failed: ${idsOf(results)}`] : []),
    `${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`,
    '',
  ].join('\n');
}

// The figures of docs/survival.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, percentile, rangesOf, resultsOf, wilson, withResults } from './report.mjs';
import { worlds } from './worlds.mjs';

const row = (more: object = {}) => ({
  ...{ world: 'home', client: 'tus-js', seed: 1, outcome: 'stored', clicks: 0, picks: 0, ms: 40_000 },
  ...{ bytesRatio: 1.5, happened: '', log: [] },
  ...more,
});

test('an interval is the one that Wilson gives', () => {
  const show = (count: number, total: number): string =>
    wilson(count, total)
      .map((share: number) => share.toFixed(3))
      .join();
  assert.equal(show(38, 40), '0.835,0.986');
  assert.equal(show(10, 10), '0.722,1.000');
  assert.equal(show(0, 10), '0.000,0.278');
});

test('a percentile is given only if there are enough values for it', () => {
  const values = Array.from({ length: 10 }, (_, index) => 10 - index);
  assert.deepEqual(
    [50, 90, 99].map((percent) => percentile(values, percent)),
    [5, 9, undefined],
  );
  assert.equal(
    percentile(
      Array.from({ length: 100 }, (_, index) => index + 1),
      99,
    ),
    99,
  );
});

test('journeys that did not end are longer than all others, and no failure counts as without a click', () => {
  const rows = [
    row(),
    row({ picks: 1 }),
    row({ clicks: 2 }),
    row({ outcome: 'late' }),
    row({ outcome: 'false-done' }),
    row({ outcome: 'gave-up', clicks: 6 }),
  ];
  const figures = figuresOf(rows, [row({ seed: undefined, ms: 20_000 })]);
  assert.deepEqual(
    [
      figures.total,
      figures.unattended,
      figures.untouched,
      figures.afterClicks,
      figures.unfinished,
      figures.falseDone,
    ],
    [6, 2, 1, 1, 2, 1],
  );
  assert.deepEqual(figures.times, [2, undefined, undefined]);
  assert.equal(Math.round(figures.clicksOf100), 133);
});

test('the document has a table for each world between its marks, with its seeds', () => {
  const rows = [row({ seed: undefined }), row(), row({ seed: 2 }), row({ seed: 3 }), row({ seed: 7 })];
  assert.equal(rangesOf([3, 1, 2, 7]), '1–3, 7');
  const text = 'a\n<!-- results of npm run survival -->\nold\n<!-- end of results -->\nb\n';
  const after = withResults(text, resultsOf(rows, worlds, 'About.'));
  assert.match(
    after,
    /^a\n<!-- results of npm run survival -->\n\nAbout\.\n\n### All worlds\n\n\| Client \| Journeys \|[\s\S]+\n\n### `home`/,
  );
  assert.match(after, /Seeds 1–3, 7\./);
  assert.match(after, /\| tus-js-client \| 4 \| 4 \(51–100 %\) \|/);
  const other = resultsOf([...rows, row({ client: 'uppy-s3', seed: 2 })], worlds, 'About.');
  assert.match(other, /Seeds 2\./);
  assert.match(other, /\| tus-js-client \| 1 \| [\s\S]*\| Uppy with S3 \| 1 \|/);
  assert.match(after, /<!-- end of results -->\nb\n$/);
  assert.doesNotMatch(after, /old/);
});

test('the table of all worlds sums journeys of the seeds that all clients of a world have', () => {
  const rows = [
    row({ seed: undefined }),
    row(),
    row({ seed: 2, clicks: 1 }),
    row({ seed: 3, client: 'uppy-s3' }),
    row({ client: 'uppy-s3', outcome: 'false-done' }),
    row({ seed: 2, client: 'uppy-s3', outcome: 'late' }),
    row({ world: 'office', seed: undefined }),
    row({ world: 'office' }),
  ];
  const [, total = ''] = /### All worlds\n\n([\s\S]+?)\n\n###/.exec(resultsOf(rows, worlds, 'About.')) ?? [];
  assert.deepEqual(total.split('\n').slice(2), [
    '| tus-js-client | 3 | 2 (21–94 %) | 1 | 0 | 0 |',
    '| Uppy with S3 | 2 | 0 (0–66 %) | 0 | 1 | 1 |',
  ]);
});

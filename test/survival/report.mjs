// Computes the figures of journeys: shares with their intervals, percentiles, and the tables of docs/survival.md. Measures nothing.

const Z_95 = 1.96;

/** Returns the Wilson interval (95 %) of `count` out of `total`, as two numbers from 0 to 1. */
export function wilson(count, total) {
  const share = count / total;
  const z2 = Z_95 ** 2;
  const middle = (share + z2 / (2 * total)) / (1 + z2 / total);
  const half = (Z_95 / (1 + z2 / total)) * Math.sqrt((share * (1 - share)) / total + z2 / (4 * total ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** Returns the percentile of some values. Undefined if there are too few values for it: less than one above or below it. */
export function percentile(values, percent) {
  if (values.length * Math.min(percent, 100 - percent) < 100) return undefined;
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1];
}

const isClean = ({ seed }) => seed === undefined;
const sum = (rows, field) => rows.reduce((total, row) => total + row[field], 0);
const median = (values) => [...values].sort((one, other) => one - other)[(values.length - 1) >> 1];

/** Returns the figures of the rows of one world and client. `cleanRows` are its journeys without events. */
export function figuresOf(rows, cleanRows) {
  const total = rows.length;
  const stored = rows.filter(({ outcome }) => outcome === 'stored');
  const unattended = stored.filter(({ clicks }) => clicks === 0);
  const cleanMs = median(cleanRows.filter(({ outcome }) => outcome === 'stored').map(({ ms }) => ms));
  // A journey that did not end has no time: it is longer than all others.
  const times = rows.map(({ outcome, ms }) =>
    outcome === 'stored' ? ms / cleanMs : Number.POSITIVE_INFINITY,
  );
  const bytes = rows.map(({ bytesRatio }) => bytesRatio);
  const percents = [50, 90, 99];
  return {
    total,
    unattended: unattended.length,
    interval: wilson(unattended.length, total),
    untouched: unattended.filter(({ picks }) => picks === 0).length,
    afterClicks: stored.length - unattended.length,
    unfinished: rows.filter(({ outcome }) => outcome === 'late' || outcome === 'gave-up').length,
    falseDone: rows.filter(({ outcome }) => outcome === 'false-done').length,
    clicksOf100: (100 * sum(rows, 'clicks')) / total,
    picksOf100: (100 * sum(rows, 'picks')) / total,
    bytes: percents.map((percent) => percentile(bytes, percent)),
    times: percents.map((percent) => percentile(times, percent)),
    cleanSeconds: cleanMs / 1000,
  };
}

const several = (values) =>
  values
    .map((value) => (value === undefined ? '–' : Number.isFinite(value) ? value.toFixed(1) : 'never'))
    .join(' / ');

const HEAD = [
  'Client',
  'Journeys',
  'Without a click (95 %)',
  'Without click and pick',
  'After clicks',
  'Not in time',
  'False "done"',
  'Clicks, picks of 100',
  'Bytes a byte',
  'Time over clean',
  'Clean',
];

/** Names of the clients for readers. */
const CLIENT_TITLES = {
  'secure-uploader-keeper': 'secure-uploader with `keeper-url`',
  'tus-js': 'tus-js-client',
  'uppy-s3': 'Uppy with S3',
  'uppy-golden-retriever': 'Uppy with S3 and Golden Retriever',
};

/** The columns of the table of all worlds. */
const SHORT_HEAD = HEAD.slice(0, 7).filter((title) => title !== 'Without click and pick');

const namesIn = (rows, field) => [...new Set(rows.map((row) => row[field]))];
const tableOf = (head, lines) =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Returns the rows of those seeds that all clients of their world have. */
function comparable(rows) {
  const keyOf = ({ world, client, seed }) => `${world} ${client} ${seed}`;
  const keys = new Set(rows.map(keyOf));
  const clientsOf = new Map(
    namesIn(rows, 'world').map((world) => [
      world,
      namesIn(
        rows.filter((row) => row.world === world),
        'client',
      ),
    ]),
  );
  return rows.filter((row) =>
    clientsOf.get(row.world).every((client) => keys.has(keyOf({ ...row, client }))),
  );
}

/** Returns the cells of a client by the titles of their columns, or `undefined` without a journey with faults. */
function cellsOf(client, rows) {
  const seeded = rows.filter((row) => !isClean(row));
  if (seeded.length === 0) return undefined;
  const figures = figuresOf(seeded, rows.filter(isClean));
  const [low, high] = figures.interval.map((share) => Math.round(100 * share));
  const values = [
    CLIENT_TITLES[client] ?? client,
    figures.total,
    `${figures.unattended} (${low}–${high} %)`,
    figures.untouched,
    figures.afterClicks,
    figures.unfinished,
    figures.falseDone,
    `${Math.round(figures.clicksOf100)}, ${Math.round(figures.picksOf100)}`,
    several(figures.bytes),
    several(figures.times),
    Number.isFinite(figures.cleanSeconds) ? `${figures.cleanSeconds.toFixed(0)} s` : '–',
  ];
  return new Map(HEAD.map((title, at) => [title, values[at]]));
}

/** Returns a table of the rows with a line for each client. */
function linesOf(rows, head) {
  const lines = namesIn(rows, 'client')
    .sort()
    .map((client) =>
      cellsOf(
        client,
        rows.filter((row) => row.client === client),
      ),
    )
    .filter(Boolean);
  return tableOf(
    head,
    lines.map((cells) => head.map((title) => cells.get(title))),
  );
}

/** Returns a table for each world that the rows are of, with a line for each client, and the seeds. */
export const tablesOf = (rows) =>
  namesIn(rows, 'world').map((world) => {
    const ofWorld = comparable(rows).filter((row) => row.world === world);
    const seeds = rangesOf(ofWorld.filter((row) => !isClean(row)).map(({ seed }) => seed));
    return { world, seeds, table: linesOf(ofWorld, HEAD) };
  });

/** Returns the seeds as ranges: `1–3, 7`. */
export function rangesOf(seeds) {
  const sorted = [...new Set(seeds)].sort((one, other) => one - other);
  const starts = sorted.filter((seed) => !sorted.includes(seed - 1));
  return starts
    .map((start) => {
      let end = start;
      while (sorted.includes(end + 1)) end += 1;
      return start === end ? `${start}` : `${start}–${end}`;
    })
    .join(', ');
}

/** Returns the results as Markdown. `about` says where and with what they were measured. */
export function resultsOf(rows, worlds, about) {
  const tables = tablesOf(rows).map(({ world, seeds, table }) => {
    const { about: text } = worlds[world];
    return `### \`${world}\`\n\n${text[0].toUpperCase()}${text.slice(1)}. Seeds ${seeds}.\n\n${table}`;
  });
  const total = `### All worlds\n\n${linesOf(comparable(rows), SHORT_HEAD)}`;
  return [about, total, ...tables].join('\n\n');
}

const MARKS = ['<!-- results of npm run survival -->', '<!-- end of results -->'];

/** Returns the document with new results between its marks. */
export function withResults(text, results) {
  const [start, end] = MARKS.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`docs/survival.md has no lines ${MARKS.join(' and ')}`);
  return `${text.slice(0, start)}${MARKS[0]}\n\n${results}\n\n${text.slice(end)}`;
}

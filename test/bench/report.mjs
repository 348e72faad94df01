// Computes the results of runs: medians for each client, ratios between clients, and a table. Measures nothing.
const GB = 1e9;
const CONNECTIONS = 6;

/** Returns the median of all values that are not undefined, or undefined if there is none. */
export function median(values) {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * Returns the minimum time in milliseconds in which `line` can transfer the requests and bytes in `counts`. Returns undefined for
 * a connection without limits.
 */
export function boundMs(line, counts) {
  const { totalBytesPerSecond, connectionBytesPerSecond, latencyMs = 0, http2 } = line;
  const bounds = totalBytesPerSecond ? [(counts.bytes / totalBytesPerSecond) * 1000] : [];
  if (!http2 && (latencyMs || connectionBytesPerSecond)) {
    for (const { requests, bytes } of Object.values(counts.perOrigin)) {
      const carryingMs = connectionBytesPerSecond ? (bytes / connectionBytesPerSecond) * 1000 : 0;
      bounds.push((requests * latencyMs + carryingMs) / CONNECTIONS);
    }
  }
  return bounds.length ? Math.max(...bounds) : undefined;
}

/** Returns the results of one run, from the measurements of the page, the browser and the sink. */
export function figuresOf({ page, usage, counts, files, line, stopped }) {
  const sizeBytes = files.totalBytes;
  const bytes = stopped ? counts.bytes : sizeBytes;
  const bound = boundMs(line, counts);
  return {
    seconds: page.durationMs / 1000,
    MBps: bytes / 1e6 / (page.durationMs / 1000),
    filesPerSecond: files.count > 1 ? files.count / (page.durationMs / 1000) : undefined,
    ofLine: bound && bound / page.durationMs,
    firstByteMs: counts.firstByteAt && counts.firstByteAt - page.startedAt,
    longestTaskMs: page.longestTaskMs,
    threadTaskMs: page.threadTaskMs,
    blockedMs: page.blockedMs,
    longestGapMs: page.longestGapMs,
    pagePeakMB: usage.peakMB.page,
    browserPeakMB: usage.peakMB.all,
    idleMB: usage.idleMB,
    peakMB: usage.peakMB,
    cpuPerGB: bytes ? usage.cpuTotalSeconds / (bytes / GB) : undefined,
    cpuSeconds: usage.cpuSeconds,
    requests: counts.requests,
    operations: counts.operations,
    preflights: counts.preflights,
    receivedBytes: counts.bytes,
    // Excludes the bodies of calls to the service.
    receivedRatio: (counts.perOrigin?.storage.bytes ?? counts.bytes) / sizeBytes,
    cuts: counts.cuts,
    refusals: counts.refusals,
    lanesBefore: meanOf(counts.lanes?.before),
    lanesAfter: meanOf(counts.lanes?.after),
  };
}

const meanOf = (lanes) => (lanes?.ms ? lanes.sum / lanes.ms : undefined);

const medianNames = [
  'seconds',
  'MBps',
  'filesPerSecond',
  'ofLine',
  'firstByteMs',
  'longestGapMs',
  'pagePeakMB',
  'browserPeakMB',
  'cpuPerGB',
  'lanesBefore',
  'lanesAfter',
];
const countNames = ['requests', 'preflights', 'receivedBytes', 'receivedRatio', 'cuts', 'refusals'];

/**
 * Returns one row for each client, fastest first. A row has the medians of the successful runs, the longest task of these runs,
 * and two speed ratios: to the fastest client, and to the client named `yardstick`.
 */
export function rowsOf(runsByClient, yardstick) {
  const rows = [...runsByClient].map(([client, runs]) => {
    const good = runs.filter((run) => !run.error);
    const row = { client, good: good.length, failed: runs.length - good.length, runs };
    for (const name of [...medianNames, ...countNames]) row[name] = median(good.map((run) => run[name]));
    if (good.length) {
      row.minMBps = Math.min(...good.map((run) => run.MBps));
      row.maxMBps = Math.max(...good.map((run) => run.MBps));
      row.longestTaskMs = Math.max(...good.map((run) => run.longestTaskMs));
      if (good[0].threadTaskMs) row.threadTaskMs = Math.max(...good.map((run) => run.threadTaskMs));
    }
    row.error = runs.find((run) => run.error)?.error;
    return row;
  });
  rows.sort((one, other) => (other.MBps ?? 0) - (one.MBps ?? 0));
  const fastest = rows[0]?.MBps;
  const compared = rows.find((row) => row.client === yardstick)?.MBps;
  for (const row of rows) {
    row.ofFastest = row.MBps && fastest && row.MBps / fastest;
    row.ofYardstick = row.MBps && compared && row.MBps / compared;
  }
  return rows;
}

const fixed = (digits) => (value) => value.toFixed(digits);
const columns = [
  ['MB/s', 'MBps', fixed(1)],
  ['min', 'minMBps', fixed(1)],
  ['max', 'maxMBps', fixed(1)],
  ['files/s', 'filesPerSecond', fixed(1)],
  ['s', 'seconds', fixed(2)],
  ['of fastest', 'ofFastest', fixed(2)],
  ['of yardstick', 'ofYardstick', fixed(2)],
  ['of line', 'ofLine', fixed(2)],
  ['1st byte ms', 'firstByteMs', fixed(0)],
  ['task ms', 'longestTaskMs', (value) => (value ? value.toFixed(0) : '<50')],
  ['of thread', 'threadTaskMs', fixed(0)],
  ['gap ms', 'longestGapMs', fixed(0)],
  ['page MB', 'pagePeakMB', fixed(0)],
  ['all MB', 'browserPeakMB', fixed(0)],
  ['CPU s/GB', 'cpuPerGB', fixed(1)],
  ['requests', 'requests', fixed(0)],
  ['preflights', 'preflights', fixed(0)],
  ['received', 'receivedRatio', (value) => `${value.toFixed(3)}x`],
  ['cuts', 'cuts', fixed(0)],
  ['429s', 'refusals', fixed(0)],
  ['lanes before', 'lanesBefore', fixed(1)],
  ['after', 'lanesAfter', fixed(1)],
  ['failed', 'failed', (value) => (value ? String(value) : '')],
];

/** Returns the rows as text, with a column for each result. Columns without results are omitted; rows are not. */
export function tableOf(rows) {
  const used = columns.filter(
    ([, name]) => rows.some((row) => row[name] !== undefined && row[name] !== 0) || name === 'longestTaskMs',
  );
  const cells = [
    ['client', ...used.map(([title]) => title)],
    ...rows.map((row) => [
      row.client,
      ...used.map(([, name, show]) => (row[name] === undefined ? '-' : show(row[name]))),
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => (column ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
        .join('  '),
    )
    .join('\n');
}

/** Explanation of the columns, printed below the tables. */
export const legend = `MB/s: file bytes a second, median of the rounds (min, max). Every client that ran has a row, the fastest first. of fastest, of
yardstick: that median against the one of the fastest client, and of the client that is named above the table. of line: least time that the line allows for this client's own requests and bytes, against the time it took. 1st byte:
from the start until storage got a byte. task: longest task on the page's thread in all rounds (browsers report those over 50 ms);
of thread: the longest by processor time, which --trace measures; gap: longest between two frames (other processes count into it). page MB, all MB: peak above idle of the page's process, of the
whole browser (what processes share counts in each). CPU: seconds of the whole browser. received: bytes that came, against the files' size. lanes: how
many bodies came in at once, before the line changed and after.`;

const PEERS = ['uppy-s3', 'uppy-tus', 'tus-js', 'upchunk'];

/** The widget, the same files from the picker, the same requests without hashing, and those with hashing. */
const COMPARED_WITH = [
  { says: '', clients: ['secure-uploader', 'secure-uploader@picker', 'raw-balanced', 'pipe-mem'] },
  { says: ', batches', clients: ['secure-uploader@batches', undefined, 'raw-batched', 'raw-batched'] },
];

/** Returns a line of the table; `undefined` if the widget did not run so. */
function cellsOf(name, [ours, picked, same, hashing], peer) {
  if (!ours) return undefined;
  const show = (row, field, digits = 0) => row?.[field]?.toFixed(digits) ?? '–';
  const taskMs = ours.threadTaskMs ?? ours.longestTaskMs;
  return [
    name,
    `${show(ours, 'MBps', 1)} (${show(ours, 'minMBps', 1)}–${show(ours, 'maxMBps', 1)})`,
    show(same, 'MBps', 1),
    peer ? `${show(peer, 'MBps', 1)} ${peer.client}` : '–',
    [ours, picked, same].map((row) => show(row, 'firstByteMs')).join(', '),
    taskMs ? taskMs.toFixed(0) : 'under 50',
    show(ours, 'pagePeakMB'),
    `${show(ours, 'cpuPerGB', 1)}, ${show(hashing, 'cpuPerGB', 1)}`,
  ];
}

/** Returns the results of profiles as a Markdown table. */
export function resultsOf({ profiles, measuredAt, browser, machine }) {
  const lines = profiles.flatMap(({ name, rows }) => {
    const rowOf = (client) => rows.find((row) => row.client === client && row.good > 0);
    const [peer] = rows.filter(({ client, good }) => PEERS.includes(client) && good > 0); // the rows start with the fastest
    const cells = COMPARED_WITH.map(({ says, clients }) =>
      cellsOf(`\`${name}\`${says}`, clients.map(rowOf), peer),
    );
    return cells.filter(Boolean);
  });
  const head = [
    'Profile',
    'MB/s',
    'Same requests',
    'Best other',
    'First byte',
    'Task',
    'Memory',
    'Processor',
  ];
  const rounds = [...new Set(profiles.map((each) => each.rounds))].join(' or ');
  const about = `Measured ${measuredAt.slice(0, 10)}, ${browser}, ${machine.processors} cores, ${rounds} rounds.`;
  return [
    about,
    '',
    ...[head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

const MARKS = ['<!-- results of npm run bench -->', '<!-- end of results -->'];

/** Returns the document with new results between its marks. */
export function withResults(text, results) {
  const [start, end] = MARKS.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`docs/performance.md has no lines ${MARKS.join(' and ')}`);
  return `${text.slice(0, start)}${MARKS[0]}\n${resultsOf(results)}\n\n${text.slice(end)}`;
}

// `npm run survival`: compares the element with other uploaders on bad lines (README.md). This file reads the command line and
// installs missing dependencies, so it may import only node: modules before that.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from '../bench/install.mjs';

const usage = `npm run survival -- [options]

  --worlds=train,cafe   worlds (worlds.mjs; by default train, cafe, home, office)
  --clients=a,b         only these clients (--clients=list names them)
  --seeds=100-139       the seeds of the events (by default 1-10)
  --at-once=6           how many journeys run at once
  --minutes=4           start no journey after this time; the next run with the same --json continues
  --size=20MB           another size of the file
  --rate=1MB            another rate of the line, in bytes a second
  --json=path           the rows, one a line (by default test/survival/results/latest.jsonl); journeys with a row do not run again
  --docs                write the figures of all rows to docs/survival.md`;

const here = fileURLToPath(new URL('.', import.meta.url));
const DOCS = join(here, '../../docs/survival.md');

function readCommandLine() {
  const text = { type: 'string' };
  const options = {
    worlds: { ...text, default: 'train,cafe,home,office' },
    clients: text,
    seeds: { ...text, default: '1-10' },
    'at-once': { ...text, default: '6' },
    minutes: text,
    size: text,
    rate: text,
    json: { ...text, default: join(here, 'results/latest.jsonl') },
    docs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    return process.exit(2);
  }
}

function seedsOf(text) {
  return text.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

async function run(values) {
  const { CLIENTS, lineOf, planJourneys, readRows, runJourneys, servePages } = await import('./survival.mjs');
  const { parseSize } = await import('../bench/profiles.mjs');
  const { resultsOf, tablesOf, withResults } = await import('./report.mjs');
  const { worlds } = await import('./worlds.mjs');
  if (values.clients === 'list') return console.log(CLIENTS.join('\n'));
  const change = {
    ...(values.size && { sizeBytes: parseSize(values.size) }),
    ...(values.rate && { bytesPerSecond: parseSize(values.rate) }),
  };
  const clients = values.clients?.split(',') ?? CLIENTS;
  const unknown = clients.filter((client) => !CLIENTS.includes(client));
  if (unknown.length > 0) throw new Error(`no client ${unknown.join(', ')}; there are ${CLIENTS.join(', ')}`);
  const journeys = planJourneys({
    worldNames: values.worlds.split(','),
    clients,
    seeds: seedsOf(values.seeds),
    change,
  });
  const pages = await servePages();
  const leftCount = await runJourneys(journeys, {
    ...{ pages, path: values.json, atOnce: Number(values['at-once']) },
    ...(values.minutes && { minutes: Number(values.minutes) }),
    onRow: (row) => console.log(lineOf(row), ...(row.outcome === 'broken' ? row.log : [])),
  }).finally(() => pages.stop());
  const rows = readRows(values.json);
  for (const { world, table } of tablesOf(rows)) console.log(`\n${world}\n${table}`);
  console.log(`\n${leftCount} journeys left. Rows: ${values.json}`);
  if (values.docs)
    writeFileSync(DOCS, withResults(readFileSync(DOCS, 'utf8'), resultsOf(rows, worlds, about(rows))));
}

/** Says when, where and with which versions the rows were measured. */
function about(rows) {
  const { dependencies } = JSON.parse(readFileSync(join(here, '../bench/package.json'), 'utf8'));
  const names = ['tus-js-client', '@uppy/core', '@uppy/aws-s3', '@uppy/golden-retriever'];
  const versions = names.map((name) => `${name} ${dependencies[name]}`).join(', ');
  const browsers = [...new Set(rows.map(({ browser }) => browser))].filter(Boolean).join(', ');
  const element = execFileSync('git', ['log', '-1', '--format=%h', '--', ':/src'], {
    cwd: here,
    encoding: 'utf8',
  }).trim();
  return `Written ${new Date().toISOString().slice(0, 10)}. Chromium ${browsers}, Node ${process.version}; secure-uploader at ${element}, ${versions}.`;
}

const values = readCommandLine();
if (values.help) console.log(usage);
else {
  install(fileURLToPath(new URL('../bench', import.meta.url)));
  await run(values).catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
}

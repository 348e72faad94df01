// A journey, because it needs pages that end, in the engines of real browsers.
// Tests what an upload survives in each browser. The table of docs/resume.md has the results; with `UPDATE_TABLES=1`, this test
// writes the results of the browsers that it ran.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { builtWidget } from '../support/built.ts';
import { until } from '../support/until.ts';
import { writeRandom } from './support/files.ts';
import { createGate } from './support/gate.ts';
import { startTab, type Tab, type TabEngine, tabEngines } from './support/tabs.ts';
import { createWorld } from './support/world.ts';

const MIB = 2 ** 20;
/** Time after which WebKit has ended the keeper of a closed tab, but Chromium and Firefox have not. */
const LATER_MS = 20_000;
const page = new URL('../../docs/resume.md', import.meta.url);
const [START, END] = ['<!-- table: survives -->', '<!-- end -->'];
const ENGINES: readonly TabEngine[] = ['chromium', 'firefox', 'webkit'];
const NAMES = { chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKitGTK' };

const world = await createWorld();
world.pages.add('/plain.html', '<p>A page without an uploader</p>');
const script = readFileSync(join(builtWidget(), 'file-keeper.js'), 'utf8');
world.pages.setScript('/short.js', script.replace('5e4', '200'));
afterEach(() => world.service.faults.clear());

/** Evaluates `expression` until its value is true. Between two pages, there is nothing to evaluate it. */
const untilTrue = (tab: Tab, expression: string): Promise<unknown> =>
  until(
    () => tab.evaluate(expression).catch(() => false),
    () => expression,
  );

const FILES = "(document.querySelector('secure-uploader')?.snapshot?.files ?? [])";

/** True if the page can hand over its files. */
const IS_KEPT = `(navigator.serviceWorker.getRegistrations().then(([found]) => {
  globalThis.isKept = found?.active?.state === 'activated';
}), globalThis.isKept)`;

interface Leaving {
  readonly tab: Tab;
  readonly url: string;
}

interface Row {
  readonly what: string;
  readonly attributes: string;
  readonly sizeBytes?: number;
  /** Leaves the page. Resolves with the tab of the next page. */
  leave(leaving: Leaving): Promise<Tab>;
}

async function inNewTab({ tab, url }: Leaving, waitMs = 0): Promise<Tab> {
  const other = await tab.newTab();
  await tab.close();
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  await other.goto(url);
  return other;
}

const KEEPER = 'keeper-url="/file-keeper.js"';
const byLink = async ({ tab, url }: Leaving): Promise<Tab> => {
  await tab.goto(`${url}?next`);
  await untilTrue(tab, "location.search === '?next'");
  return tab;
};

const ROWS: readonly Row[] = [
  { what: 'a link to a page with the uploader', attributes: KEEPER, leave: byLink },
  {
    what: 'a reload',
    attributes: KEEPER,
    async leave({ tab }) {
      await tab.evaluate('void (globalThis.isOld = true)');
      await tab.reload();
      await untilTrue(tab, "!('isOld' in globalThis)");
      return tab;
    },
  },
  {
    what: 'a link to a page without the uploader, then the button Back',
    attributes: KEEPER,
    async leave({ tab }) {
      await tab.goto(`${world.pages.origin}/plain.html`);
      await tab.back();
      await untilTrue(tab, `${FILES}.length > 0`);
      return tab;
    },
  },
  { what: 'the tab is closed, and a new one is opened at once', attributes: KEEPER, leave: inNewTab },
  {
    what: `the tab is closed, and a new one is opened after ${LATER_MS / 1000} seconds`,
    attributes: KEEPER,
    leave: (leaving) => inNewTab(leaving, LATER_MS),
  },
  {
    what: 'the upload is paused in a tab that is still open, and a new tab is opened',
    attributes: KEEPER,
    async leave({ tab, url }) {
      await tab.evaluate("void document.querySelector('secure-uploader').pause()");
      const other = await tab.newTab();
      await other.goto(url);
      await untilTrue(other, `${FILES}.some(({ pauseReason }) => pauseReason !== 'resuming')`);
      await other.evaluate("void document.querySelector('secure-uploader').resume()");
      await tab.close();
      return other;
    },
  },
  {
    what: 'the next page is opened after more than 50 seconds, or the browser is restarted',
    attributes: 'keeper-url="/short.js"',
    async leave({ tab, url }) {
      await tab.goto(`${world.pages.origin}/plain.html`);
      await untilTrue(
        tab,
        '(navigator.serviceWorker.getRegistrations().then(({ length }) => { globalThis.isGone = length === 0; }), globalThis.isGone)',
      );
      await tab.goto(url);
      return tab;
    },
  },
  { what: 'any of these without `keeper-url`', attributes: '', leave: byLink },
  {
    what: 'any of these without `keeper-url`, but with `keep-files`, for a file of up to 4 MiB',
    attributes: 'keep-files',
    sizeBytes: 3 * MIB,
    leave: byLink,
  },
];

/** Uploads a file, leaves the page in the middle, and returns what the user has to do on the next page. */
async function outcomeOf(
  tab: Tab,
  { attributes, sizeBytes = 6 * MIB, leave }: Row,
  name: string,
): Promise<[Tab, string]> {
  const { token } = await world.service.createToken('alice', 3_600_000);
  const settings = `${attributes} data-token="${token}" owner="${name}" chunk-size="1MiB"`;
  const url = world.pages.add(`/${name}.html`, world.elementWith(settings));
  const path = join(world.folder, `${name}.bin`);
  writeRandom(path, sizeBytes);
  world.service.faults.add({
    operation: 'put',
    skip: 1,
    times: Number.POSITIVE_INFINITY,
    waitFor: createGate().opened,
  });
  await tab.goto(url);
  await untilTrue(tab, "customElements.get('secure-uploader') !== undefined");
  await tab.choose(path);
  await untilTrue(tab, `${FILES}.some(({ storedBytes }) => storedBytes > 0)`);
  if (attributes.includes('keeper-url')) await untilTrue(tab, IS_KEPT);
  world.service.faults.clear();
  const next = await leave({ tab, url });
  const isOver = `${FILES}.some(({ phase, pauseReason }) => phase === 'done' || pauseReason === 'needs-file')`;
  await untilTrue(next, isOver);
  const isDone = await next.evaluate<boolean>(`${FILES}.every(({ phase }) => phase === 'done')`);
  return [next, isDone ? 'continues' : 'choose the file again'];
}

/** Returns the cells of the table in docs/resume.md, by engine. */
function readTable(): Map<TabEngine, string[]> {
  const [, table = ''] = readFileSync(page, 'utf8').split(START);
  const rows = (table.split(END)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
  return new Map(ENGINES.map((engine, column) => [engine, rows.map((row) => row[column + 1] ?? '')]));
}

function writeTable(results: ReadonlyMap<TabEngine, readonly string[]>): void {
  const text = readFileSync(page, 'utf8');
  const [before = '', rest = ''] = text.split(START);
  const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table = [
    row('What happens during an upload', ...ENGINES.map((engine) => NAMES[engine])),
    row('---', ...ENGINES.map(() => '---')),
    ...ROWS.map(({ what }, at) => row(what, ...ENGINES.map((engine) => results.get(engine)?.[at] || '?'))),
  ];
  writeFileSync(
    page,
    `${before}${START}\n\n${table.join('\n')}\n\n${END}${rest.slice(rest.indexOf(END) + END.length)}`,
  );
}

for (const engine of tabEngines) {
  test(`in ${engine}, an upload survives what the table of docs/resume.md says`, async (t) => {
    const results: string[] = [];
    let tab = await startTab(engine);
    try {
      for (const [at, row] of ROWS.entries()) {
        const [next, result] = await outcomeOf(tab, row, `${engine}-${at}`);
        t.diagnostic(`${row.what}: ${result}`);
        results.push(result);
        tab = next;
      }
    } finally {
      await tab.end();
    }
    if (process.env.UPDATE_TABLES) writeTable(new Map([...readTable(), [engine, results]]));
    assert.deepEqual(results, readTable().get(engine));
  });
}

test('the table of docs/resume.md has the rows of this test', () => {
  const [, table = ''] = readFileSync(page, 'utf8').split(START);
  for (const { what } of ROWS) assert.ok(table.includes(`| ${what} |`), what);
});

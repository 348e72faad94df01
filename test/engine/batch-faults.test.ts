// The table "Faults of a batch" of docs/faults.md: each fault has the documented outcome, and each file is stored once.

import { expect } from '@open-wc/testing';
import type { LogEntry } from '../../demo/server/faults.ts';
import { addFault, clearFaults, countFiles, findReference, logOf } from '../service/reference.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { causeOf, type FaultCell, readCells } from '../support/faults.ts';
import { newStore, world } from '../support/world.ts';

/** Columns of the table, each with what the batch does and the single request that does the same. */
const COLUMNS = {
  'batch of sessions': { kind: 'open', operation: 'session' },
  'batch of commits': { kind: 'commit', operation: 'commit' },
} as const;

type Column = keyof typeof COLUMNS;
type Cell = FaultCell<Column>;

/** Number of files of a cell, after a first one that goes alone. */
const COUNT = 8;
/** Number of cells that run at the same time. */
const AT_ONCE = 6;
const POLICY = { baseMs: 30, capMs: 90 };
const TIMES = { callTimeoutMs: 1500 };

const response = await fetch('/docs/faults.md');
const cells = readCells(
  await response.text(),
  Object.keys(COLUMNS) as Column[],
  /^(?:continues|sent again|sent alone)$/,
);

/**
 * Returns what becomes of the files of the first batch with the fault, in the words of the table. `log` has all requests of the
 * cell.
 */
function outcomeOf({ column, mode }: Cell, log: readonly LogEntry[]): string {
  const { kind, operation } = COLUMNS[column];
  const batches = log.filter((entry) => entry.kind === kind);
  const names = batches.find(({ files = 0 }) => files > 1 || mode === 'for ever')?.fileNames ?? [];
  if (names.length === 0) return `${batches.length} batches, and none with several files`;
  const isAlone = (name: string): boolean =>
    log.some((entry) => entry.operation === operation && entry.fileName === name);
  const batchCount = (name: string): number =>
    batches.filter(({ fileNames }) => fileNames?.includes(name)).length;
  if (names.every(isAlone)) return 'sent alone';
  return names.some((name) => isAlone(name) || batchCount(name) > 1) ? 'sent again' : 'continues';
}

/** Uploads the files of a cell. Resolves with their outcome; if not each is stored once, with their errors or their number. */
async function runCell(cell: Cell, storageUrl: string): Promise<string> {
  const engine = await world({
    service: 'reference',
    batchPath: '/files/uploadsession/batch',
    cancelPath: '/files/uploadsession',
    policy: POLICY,
    times: TIMES,
    store: newStore(),
  });
  const id = crypto.randomUUID();
  const [first, ...files] = Array.from(
    { length: 1 + COUNT },
    (_, index) => new File([`${id} ${index}`], index === 0 ? `first-${id}.txt` : `${id}-${index}.txt`),
  );
  await engine.uploader.addFiles([first as File]);
  await engine.waitForChange('upload-completed');
  const { kind } = COLUMNS[cell.column];
  const cause = causeOf(cell.fault, 'batch', storageUrl);
  const isOnce = cell.mode === 'once';
  const match = { kind, fileNames: files.map(({ name }) => name), ...(isOnce && { several: true }) };
  await addFault({ operation: 'batch', ...cause, match, times: isOnce ? (cause.times ?? 1) : -1 });
  await engine.uploader.addFiles(files);
  await until(
    () => engine.phases().every((phase) => ['done', 'failed'].includes(phase)),
    () => `${cell.column}, ${cell.fault}, ${cell.mode}: ${engine.phases()}`,
  );
  const failed = engine.details('upload-failed').map(({ code }) => `failed: ${code}`);
  if (failed.length > 0) return failed.join();
  const storedCount = await countFiles(files.map(({ name }) => name));
  if (storedCount !== COUNT) return `${storedCount} files are stored`;
  const log = await logOf({});
  return outcomeOf(
    cell,
    log.filter((entry) => [entry.fileName, ...(entry.fileNames ?? [])].some((name) => name?.startsWith(id))),
  );
}

/** The cells, in groups of which each fits well into the time of a hook. */
const groups = Map.groupBy(cells, ({ column, mode }) => `a fault of a ${column}, ${mode}`);

for (const [title, cellsHere] of groups)
  describe(title, () => {
    const outcomes = new Map<Cell, string>();

    before(async () => {
      const { storageUrl } = await findReference();
      const waiting = [...cellsHere];
      const runNext = async (): Promise<void> => {
        for (let cell = waiting.shift(); cell; cell = waiting.shift())
          outcomes.set(cell, await runCell(cell, storageUrl));
      };
      await captureWarnings(() => Promise.all(Array.from({ length: AT_ONCE }, runNext)));
      await clearFaults();
    });

    for (const cell of cellsHere)
      it(`${cell.fault}: ${cell.expected}`, () => expect(outcomes.get(cell)).to.equal(cell.expected));
  });

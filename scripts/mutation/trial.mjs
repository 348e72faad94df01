// Measures which code each test reaches, without a mutant; then runs, for each mutant, the tests that reach it until one fails.

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** The time limit of a test with a mutant: this factor and this addition, because another page runs at the same time. */
const slowdown = 3;
const spareMs = 3000;
const greatestSlowdown = 50;
const measureLimitMs = 600_000;

/**
 * Runs every test file without a mutant. Resolves with `{runs, broken}`: for each file its tests' `milliseconds` and what they
 * `reached` (title to id to how often; '' is what ran outside of tests), and a sentence for each file that failed.
 */
export async function measure(pages, files) {
  const runs = [];
  const broken = [];
  await Promise.all(
    files.map(async (file) => {
      const { passed, failure, title, record } = await pages.run(file, {
        active: 0,
        deadlineMs: measureLimitMs,
      });
      if (!passed || !record) broken.push(`${file}: ${title ?? 'the file'}: ${failure ?? 'no record'}`);
      else runs.push({ file, ...record });
    }),
  );
  return { runs, broken };
}

/** The tests of a run that reach a mutant: all of them if the top level of the module reaches it. */
function reachingTests({ milliseconds, reached }, id) {
  const all = Object.keys(milliseconds);
  return reached['']?.[id] ? all : all.filter((title) => reached[title]?.[id]);
}

const folderOf = (path) => path.split('/')[1];

/** Sorts the tests: first those in the folder of the mutant, then the fastest ones. */
function planFor(runs, mutant) {
  const planned = runs.map((run) => {
    const titles = reachingTests(run, mutant.id);
    const isNear = folderOf(run.file) === folderOf(mutant.file);
    const totalMs = sum(titles.map((title) => run.milliseconds[title]));
    const times = sum(Object.values(run.reached).map((counts) => counts[mutant.id] ?? 0));
    return { ...run, titles, isNear, totalMs, times };
  });
  return planned
    .filter(({ titles }) => titles.length > 0)
    .sort((a, b) => Number(b.isNear) - Number(a.isNear) || a.totalMs - b.totalMs);
}

/**
 * Runs tests of one file with `mutant`. A test that exceeded its limit runs once more without the mutant: if that is late too, the
 * machine has become slower, and the mutant gets more time by the same factor.
 */
async function failsWith(pages, mutant, { file, titles, milliseconds, totalMs, times }, factor = slowdown) {
  const limits = Object.fromEntries(titles.map((title) => [title, milliseconds[title] * factor]));
  const job = { active: mutant.id, limit: times * 100 + 10_000, titles, limits, spareMs };
  const run = await pages.run(file, { ...job, deadlineMs: totalMs * factor + 10 * spareMs });
  if (run.passed) return undefined;
  const isLate = run.isHung || /^Timeout of/.test(run.failure ?? '');
  const killed = { isLate, by: `${file}: ${run.title ?? 'the file'}: ${run.failure}` };
  if (!isLate || factor > greatestSlowdown) return killed;
  const only = run.title ? [run.title] : titles;
  const control = await pages.run(file, { active: -1, titles: only, deadlineMs: measureLimitMs });
  const tookMs = sum(Object.values(control.record?.milliseconds ?? {}));
  const plannedMs = sum(only.map((title) => milliseconds[title]));
  const isSlower = !control.passed || tookMs > plannedMs * slowdown + spareMs;
  if (!isSlower) return killed;
  const slower = Math.max(2, tookMs / (plannedMs + 1));
  return failsWith(pages, mutant, { file, titles, milliseconds, totalMs, times }, factor * slower);
}

/**
 * Runs the tests that reach `mutant`, file by file, until one fails. Resolves with `{isKilled, isLate, by, tests}`, or undefined
 * if `isOver()` returns true before.
 */
export async function killWith(pages, runs, mutant, isOver) {
  let tests = 0;
  for (const part of planFor(runs, mutant)) {
    if (isOver()) return undefined;
    tests += part.titles.length;
    const killed = await failsWith(pages, mutant, part);
    if (killed) return { isKilled: true, tests, ...killed };
  }
  return { isKilled: false, tests };
}

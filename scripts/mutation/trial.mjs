// Measures which code each test reaches without a mutant. Then, for each mutant, runs the tests that reach it.

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** Factor and addition for the time limit of a test with a mutant. Tests are slower because another page runs at the same time. */
const slowdown = 3;
const spareMs = 3000;
const greatestSlowdown = 50;
const measureLimitMs = 600_000;

/**
 * Runs every test file without a mutant, and a file that fails once more, alone. Resolves with `{runs, broken}`. A run has
 * `milliseconds`, by title of the test, and `reached`: for each title, the number of times that the test reached each mutant, by id
 * (the title '' stands for code outside of tests). `broken` has a sentence for each file that failed twice.
 */
export async function measure(pages, files) {
  const runs = [];
  const broken = [];
  const runFile = async (file, failures) => {
    const job = { active: 0, deadlineMs: measureLimitMs };
    const { passed, failure, title, record } = await pages.run(file, job);
    if (passed && record) runs.push({ file, ...record });
    else failures.push({ file, sentence: `${file}: ${title ?? 'the file'}: ${failure ?? 'no record'}` });
  };
  const again = [];
  await Promise.all(files.map((file) => runFile(file, again)));
  for (const { file } of again) await runFile(file, broken);
  return { runs, broken: broken.map(({ sentence }) => sentence) };
}

/**
 * Returns the titles of the tests that reach a mutant. If the top level of the module reaches the mutant, returns all tests of the
 * run.
 */
function reachingTests({ milliseconds, reached }, id) {
  const all = Object.keys(milliseconds);
  return reached['']?.[id] ? all : all.filter((title) => reached[title]?.[id]);
}

const folderOf = (path) => path.split('/')[1];

/** Returns the files with tests that reach the mutant: first files in the folder of the mutant, then the fastest files. */
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
 * Runs tests of one file with `mutant`. A test that exceeds its limit runs once more without the mutant. If this run is also late,
 * the machine has become slower, and the mutant gets more time by the same factor.
 */
async function failsWith(pages, mutant, { file, titles, milliseconds, times }, factor = slowdown) {
  const totalMs = sum(titles.map((title) => milliseconds[title]));
  const limits = Object.fromEntries(titles.map((title) => [title, milliseconds[title] * factor]));
  const job = { active: mutant.id, limit: times * 100 + 10_000, titles, limits, spareMs };
  const run = await pages.run(file, { ...job, deadlineMs: totalMs * factor + 10 * spareMs });
  if (run.passed) return undefined;
  const isLate = run.isHung || /^Timeout of/.test(run.failure ?? '');
  const kill = { title: run.title, failure: run.failure, isLate };
  if (!isLate || factor > greatestSlowdown) return kill;
  const only = run.title ? [run.title] : titles;
  const control = await pages.run(file, { active: -1, titles: only, deadlineMs: measureLimitMs });
  const tookMs = sum(Object.values(control.record?.milliseconds ?? {}));
  const plannedMs = sum(only.map((title) => milliseconds[title]));
  const isSlower = !control.passed || tookMs > plannedMs * slowdown + spareMs;
  if (!isSlower) return kill;
  const slower = Math.max(2, tookMs / (plannedMs + 1));
  return failsWith(pages, mutant, { file, titles, milliseconds, times }, factor * slower);
}

/**
 * Runs the tests that reach `mutant`, file by file, until `mostKills` tests have failed. Each failure is followed by a new page,
 * which the failure has not disturbed. Resolves with `{kills, tests}`: the tests that failed, as `{file, title, failure, isLate}`
 * (without `title` if the file as a whole failed), and the number of tests that reach the mutant. Resolves with undefined if
 * `isOver()` is true before the end.
 */
export async function trial(pages, runs, mutant, isOver, mostKills) {
  const plan = planFor(runs, mutant);
  const kills = [];
  for (const part of plan) {
    for (let { titles } = part; titles.length > 0 && kills.length < mostKills; ) {
      if (isOver()) return undefined;
      const kill = await failsWith(pages, mutant, { ...part, titles });
      if (!kill) break;
      kills.push({ file: part.file, ...kill });
      titles = kill.title ? titles.slice(titles.indexOf(kill.title) + 1) : [];
    }
  }
  return { kills, tests: sum(plan.map(({ titles }) => titles.length)) };
}

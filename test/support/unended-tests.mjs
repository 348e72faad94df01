// Lets the report of a test file in a page that did not end name the tests that hung: a page sends its results only at its end.

/** Time in which a page has to answer. One that does not is blocked, by a script or by a dialog. */
const ANSWER_MS = 60_000;

/** Runs in the page. Returns a line for each failed test, and for the test that has not ended; none if all have ended. */
function readPage() {
  const runner = globalThis.__WTR_MOCHA_RUNNER__;
  if (runner?.state !== 'running') return [];
  const lines = [];
  const titleOf = (test) => test.titlePath().join(' > ');
  runner.suite.eachTest((test) => {
    if (test.isFailed()) lines.push(`${titleOf(test)}: ${test.err?.message}`);
  });
  return [...lines, `${titleOf(runner.currentRunnable)}: did not end${globalThis.waitsOfTest?.() ?? ''}`];
}

/** Resolves with the lines of `readPage`; with none if the page has gone. Closes a page that does not answer, and rejects. */
function linesOf(page) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      page.close?.().catch(() => undefined);
      reject(new Error(`The page has not answered for ${ANSWER_MS} ms`));
    }, ANSWER_MS);
    page
      .evaluate(readPage)
      .catch(() => [])
      .then(resolve)
      .finally(() => clearTimeout(timer));
  });
}

/** Returns a browser launcher whose report of a file that did not end has the lines of `readPage`. */
export function namesUnended(launcher) {
  const stopSession = launcher.stopSession.bind(launcher);
  launcher.stopSession = async (id) => {
    const errors = (await linesOf(launcher.getPage(id))).map((message) => ({ message }));
    return { ...(await stopSession(id)), errors };
  };
  return launcher;
}

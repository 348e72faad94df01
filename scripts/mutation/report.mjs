// Prints the results of a mutation run.

const percent = (killed, total) => (total === 0 ? 100 : (killed / total) * 100);
const short = (text) => (text.length > 90 ? `${text.slice(0, 87)}…` : text);
const place = ({ file, line, column }) => `${file}:${line}:${column}`;
const change = ({ operator, before, after }) =>
  `${operator}: ${short(before)}  ->  ${short(after) || '(nothing)'}`;

const byPlace = (a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;

export function printTaken({ folder, seed, taken, equivalents, found }) {
  console.log(
    `\n== ${folder}, seed ${seed}: ${taken.length} of ${found}, ${equivalents.length} equivalents left out`,
  );
  for (const mutant of [...taken].sort(byPlace)) console.log(`${place(mutant)}  ${change(mutant)}`);
}

/** Prints the survivors and the equivalents of one folder and seed. Returns the score of the folder in percent. */
export function printFolder({ folder, seed, taken, equivalents }) {
  const survivors = taken.filter(({ result }) => !result.kills.length).sort(byPlace);
  console.log(`\n== ${folder}, seed ${seed}`);
  for (const mutant of survivors) {
    const { tests } = mutant.result;
    const reach = tests ? `${tests} tests passed` : 'no test reaches it';
    console.log(`survived  ${place(mutant)}  ${change(mutant)}  (${reach})`);
  }
  for (const mutant of [...equivalents].sort(byPlace))
    console.log(`equivalent  ${place(mutant)}  ${change(mutant)}  (${mutant.reason})`);
  return percent(taken.length - survivors.length, taken.length);
}

/** Prints one line for each folder and seed. */
export function printSum(rounds, scores, target) {
  console.log('');
  rounds.forEach(({ folder, seed, taken, equivalents, found, unrun }, index) => {
    const killed = taken.filter(({ result }) => result.kills.length).length;
    const late = taken.filter(({ result }) => result.kills[0]?.isLate).length;
    const verdict = scores[index] >= target && !unrun ? 'ok  ' : 'FAIL';
    const hung = late ? `, ${late} of them by time` : '';
    console.log(
      `${verdict} ${folder}, seed ${seed}: ${scores[index].toFixed(1)} % (${killed} of ${taken.length} killed${hung}; ` +
        `${equivalents.length} equivalents left out; ${found} mutants in all)${unrun ? `, ${unrun} NOT RUN for lack of time` : ''}`,
    );
  });
}

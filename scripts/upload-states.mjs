// Writes docs/upload-states.md: what each event means for an upload in each state, as `src/engine/upload-machine.ts` says it.
// `node --import tsx scripts/upload-states.mjs` writes it; with `--check` it fails where the file is not up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { reduce } from '../src/engine/upload-machine.ts';
import { publicPhase, stateNameOf } from '../src/engine/upload-state.ts';
import { at, EVENTS, nameOf, TABLE } from '../test/engine/upload-table.ts';

const path = new URL('../docs/upload-states.md', import.meta.url);

const MEANINGS = {
  held: 'waits for `start()` (`manual`)',
  queued: 'waits for a free slot',
  opening: 'the file is identified, its record looked up, its lock requested',
  hashing: 'the session is open; nothing has been sent yet',
  uploading: 'chunks are being sent',
  committing: 'everything is stored; the service is asked to agree',
  blocked: 'the run is alive and waits: for another tab, the network, or sign-in',
  user: 'paused by the user',
  suspended: 'paused because the element was removed from the page',
  'needs-file': 'waits until the user provides the file again',
  failed: 'ended by an error',
  canceling: 'given up; its record is being deleted and its session canceled',
  canceled: 'given up',
  done: 'complete',
  removed: 'no longer in the list',
};

function stateName(state) {
  if (state.phase === 'canceling') return `canceling, then ${stateName(state.next)}`;
  if (state.phase === 'paused' && 'blockers' in state)
    return `blocked (${state.reason}), then ${state.resumesTo}`;
  return stateNameOf(state);
}

function cell(row, event) {
  const model = at(row);
  const { model: after, effects } = reduce(model, event);
  if (after === model) return undefined;
  const aborts = after.generation !== model.generation && at(row).state.phase !== after.state.phase;
  const isLive = ['opening', 'hashing', 'uploading', 'committing', 'blocked'].includes(row);
  const done = effects.map((effect) => `\`${nameOf(effect)}\``).join(', ');
  return [stateName(after.state), aborts && isLive ? 'the run is aborted' : '', done]
    .filter(Boolean)
    .join('; ');
}

function page() {
  const lines = [
    '# The states of an upload',
    '',
    'Written by `node --import tsx scripts/upload-states.mjs` from `src/engine/upload-machine.ts`; do not edit it by hand.',
    '',
    'Each row of a table is an event: the next state, then the effects in order. `upload-…` and `file-removed` are public events;',
    '`report-progress` is `upload-progress`, `flush-progress` too where numbers changed since the last one, and `report-completed`',
    'is `upload-completed`. An event that a table does not list changes nothing in that state. Events of an ended run are dropped.',
    '',
  ];
  for (const row of Object.keys(TABLE)) {
    lines.push(`## ${row}`, '', `Phase \`${publicPhase(at(row).state)}\`: ${MEANINGS[row]}.`, '');
    const cells = Object.entries(EVENTS)
      .map(([type, event]) => [type, cell(row, event)])
      .filter(([, text]) => text !== undefined);
    if (cells.length === 0) lines.push('No event changes anything.', '');
    else {
      lines.push('| Event | Next state; effects |', '|---|---|');
      for (const [type, text] of cells) lines.push(`| \`${type}\` | ${text} |`);
      lines.push('');
    }
  }
  return lines.join('\n');
}

const wanted = page();
if (!process.argv.includes('--check')) writeFileSync(path, wanted);
else if (readFileSync(path, 'utf8') !== wanted) {
  console.error('docs/upload-states.md is not up to date: run `node --import tsx scripts/upload-states.mjs`');
  process.exitCode = 1;
}

// Generates docs/upload-states.md and docs/sign-in-states.md from the tables of the state machines. The tests of the tables compare
// the sources with these documents.
import { writeFileSync } from 'node:fs';
import { signInStates } from '../test/auth/sign-in-table.ts';
import { uploadStates } from '../test/engine/upload-table.ts';

for (const [name, text] of [
  ['upload-states', uploadStates()],
  ['sign-in-states', signInStates()],
])
  writeFileSync(new URL(`../docs/${name}.md`, import.meta.url), text);

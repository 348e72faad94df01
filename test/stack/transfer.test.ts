// The transfer journeys of test/e2e with the example for S3 and Ceph RGW in the place of the reference service, with sessions in
// memory and in PostgreSQL.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../e2e/', import.meta.url));
const NAMES = 'the example has another rule for this name, see hostile-clients.test.ts';
const SIGN_IN = 'the example has no sign-in';

/** The files that run. For each test that does not run: a part of its title, and the reason. */
const RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'journey-whole-way': { 'signs in in the window': SIGN_IN },
  'journey-outage': {},
  'journey-bad-day': {
    'replaces an expired URL': 'the store has no clock that tests can shift',
    'a service that is down': 'sessions in memory end with the process',
  },
  'transfer-kept': {},
  'transfer-names': {
    'a mark that reverses the direction': NAMES,
    'an invisible space': NAMES,
    'a line separator of Unicode': NAMES,
    'a name of spaces': NAMES,
    'a folder with unique names': 'the example has no such folders',
  },
  'transfer-once': {
    'when the copy that is being sent is canceled':
      'depends on times: the uploader sends chunks again that the canceled copy stored after the next copy got its URLs',
  },
  'transfer-own-origin': {},
  'transfer-step-up': { 'a second factor': SIGN_IN },
  'transfer-tabs': {},
  'transfer-throttle': {},
  'transfer-weather': {},
};
const NO_SERVICE = 'uses no service, only servers that discard the bytes';
const LEFT_OUT = ['transfer-memory', 'transfer-multiplexed', 'transfer-preconnect'];

test(`all transfer journeys are listed; ${LEFT_OUT.join(', ')}: ${NO_SERVICE}`, () => {
  const names = readdirSync(FOLDER).map((name) => name.replace('.test.ts', ''));
  const found = names.filter((name) => name.startsWith('transfer-'));
  const listed = [...Object.keys(RUN), ...LEFT_OUT].filter((name) => name.startsWith('transfer-'));
  assert.deepEqual(listed.toSorted(), found.toSorted());
});

for (const WORLD of ['memory', 'PostgreSQL'])
  for (const [name, leftOut] of Object.entries(RUN))
    test(`${name} with sessions in ${WORLD}`, async (t) => {
      const path = join(FOLDER, `${name}.test.ts`);
      const parts = Object.keys(leftOut);
      for (const part of parts) assert.ok(readFileSync(path, 'utf8').includes(part), `no test: ${part}`);
      // Node runs all tests if the pattern matches the name of their parent, `<root>`.
      const pattern = `/^(?!${['<root>', ...parts.map((part) => `.*${part}`)].join('|')})/`;
      // Forced, because a world that does not start leaves servers behind.
      const args = ['--test', '--test-force-exit', `--test-name-pattern=${pattern}`, path];
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const child = spawn(process.execPath, ['--import', 'tsx', '--test-reporter=tap', ...args], {
        env: { ...env, WORLD },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said = await text(child.stdout);
      const [passed] = /(?<=^# pass )\d+/m.exec(said) ?? [];
      t.diagnostic(`${passed} tests passed`);
      assert.ok(Number(passed) > 0 && /^# fail 0$/m.test(said) && /^# cancelled 0$/m.test(said), said);
    });

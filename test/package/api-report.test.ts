// The public API is the one in api-report.md. A change of the API needs a line in CHANGELOG.md, and a new report:
// UPDATE_API_REPORT=1 npm test -- test/package/api-report.test.ts

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createApiReport } from '../../scripts/api-report.mjs';
import { sharedApp } from './packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const reportFile = fileURLToPath(new URL('api-report.md', import.meta.url));

/** Returns a hash of the section about the next version. */
async function hashOfNextVersion(): Promise<string> {
  const [, next = ''] = (await readFile(join(root, 'CHANGELOG.md'), 'utf8')).split(/^## /m);
  return createHash('sha256').update(next).digest('hex').slice(0, 16);
}

test('the public API changes only together with the changelog', async () => {
  const { packageFolder } = await sharedApp();
  const saved = await readFile(reportFile, 'utf8').catch(() => '');
  const [savedApi = '', savedHash = ''] = saved.split('\nChangelog: ');
  const api = createApiReport(packageFolder);
  if (api === savedApi) return;
  if (process.env.UPDATE_API_REPORT === undefined)
    assert.equal(
      api,
      savedApi,
      'The public API differs from test/package/api-report.md, which says how to update it',
    );
  const hash = await hashOfNextVersion();
  assert.notEqual(hash, savedHash.trim(), 'The public API changed: add a line to CHANGELOG.md first');
  await writeFile(reportFile, `${api}\nChangelog: ${hash}\n`);
});

// Two builds of the same sources in other folders, at other times, in another time zone, language and mode have the same files.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildTo, builtPackage } from '../support/built.ts';

/** Returns the hash of each file of a build, by path. */
function hashesIn(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== 'built-in.txt' && statSync(join(folder, path)).isFile())
    .sort();
  return new Map(
    paths.map((path) => [
      path,
      createHash('sha256')
        .update(readFileSync(join(folder, path)))
        .digest('hex'),
    ]),
  );
}

test('a build can be reproduced, file by file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'secure-uploader-again-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { folder: first, builtIn } = builtPackage();
  const again = buildTo(folder, {
    TZ: 'Asia/Kathmandu',
    LANG: 'tr_TR.UTF-8',
    LC_ALL: 'tr_TR.UTF-8',
    NODE_ENV: 'development',
  });
  assert.notEqual(again, builtIn);
  assert.deepEqual([...hashesIn(folder)], [...hashesIn(first)]);
});

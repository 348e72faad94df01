// When the package is built. Two builds of the same sources in other folders, at other times, in another time zone, language and
// mode have the same files.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildTo, builtPackage, withCopy } from '../support/built.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

test('a build can be reproduced, file by file', () => {
  const folder = temporaryFolder();
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

test('`npm pack` builds only if a source is newer than the last build', () =>
  withCopy((folder) => {
    const builtAt = new Date(Date.now() + 60_000);
    const touch = (name: string, at: number): void =>
      utimesSync(join(folder, name), new Date(at), new Date(at));
    const pack = () => spawnSync(process.execPath, ['scripts/build.mjs', '--if-older'], { cwd: folder });
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/sbom.cdx.json'), '{}');
    touch('dist/sbom.cdx.json', Number(builtAt));
    assert.equal(pack().status, 0);
    assert.deepEqual(readdirSync(join(folder, 'dist')), ['sbom.cdx.json']);
    // With these settings, a build fails at once.
    writeFileSync(join(folder, 'tsconfig.build.json'), 'broken');
    assert.equal(pack().status, 0);
    for (const name of ['src/core/wait.ts', 'src/core', 'package.json', 'scripts/entries.mjs']) {
      const { mtimeMs } = statSync(join(folder, name));
      touch(name, Number(builtAt) + 1000);
      assert.notEqual(pack().status, 0, name);
      mkdirSync(join(folder, 'dist'), { recursive: true });
      writeFileSync(join(folder, 'dist/sbom.cdx.json'), '{}');
      touch('dist/sbom.cdx.json', Number(builtAt));
      touch(name, mtimeMs);
    }
  }));

// The command of the package: `npx secure-uploader conform`, as npm installs it.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { page, startRig } from '../server/support.ts';
import { type PackedApp, sharedApp } from './packed.ts';

describe('The command of the package', () => {
  let app: PackedApp;
  let command: string;
  before(async () => {
    app = await sharedApp();
    const { bin } = JSON.parse(await readFile(join(app.packageFolder, 'package.json'), 'utf8'));
    command = join(app.packageFolder, bin['secure-uploader']);
  });
  const run = (...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });

  test('is one file that needs only Node', async () => {
    const text = await readFile(command, 'utf8');
    assert.ok(text.startsWith('#!/usr/bin/env node\n'));
    const modules = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']/g)].map(
      ([, name]) => name,
    );
    assert.ok(modules.length > 3, modules.join());
    assert.deepEqual(
      modules.filter((name) => !name?.startsWith('node:')),
      [],
    );
  });

  test('is imported by no other file of the package', async () => {
    const importers: string[] = [];
    for (const file of app.files.filter((name) => /^(dist|src)\/(?!cli\/).*\.(js|ts)$/.test(name))) {
      if (/["'][^"'\n]*\bcli\/[^"'\n]*["']/.test(await readFile(join(app.packageFolder, file), 'utf8')))
        importers.push(file);
    }
    assert.deepEqual(importers, []);
  });

  test('explains itself, and exits with 2 for wrong options or without a service', () => {
    const help = run('--help');
    assert.deepEqual([help.status, /--base-url URL/.test(String(help.stdout))], [0, true]);
    const wrong = run('conform', '--base-url', 'nowhere', '--parent-id', 'a');
    assert.deepEqual(
      [wrong.status, wrong.stderr, wrong.stdout],
      [2, 'secure-uploader: --base-url must be an absolute URL\n', ''],
    );
    const away = run('conform', '--base-url', 'http://localhost:1', '--parent-id', 'a');
    assert.deepEqual([away.status, away.stdout], [2, '']);
    assert.match(String(away.stderr), /^secure-uploader: no response: .*\n$/);
    for (const args of [['check'], ['conform', '--nonsense'], ['conform', '--base-url', 'https://a.example']])
      assert.equal(run(...args).status, 2, args.join(' '));
  });

  test('reports for people and as JSON, and exits with 1 if a check failed', async () => {
    const rig = await startRig();
    try {
      const { token } = await rig.service.createToken('alice');
      const start = (...args: string[]): Promise<{ status: number; text: string }> =>
        new Promise((resolve) => {
          const given = ['--base-url', rig.service.baseUrl, '--parent-id', 'folder-a'];
          const env = { ...process.env, SECURE_UPLOADER_TOKEN: token };
          execFile(process.execPath, [command, 'conform', ...given, ...args], { env }, (error, text) =>
            resolve({ status: Number(error?.code ?? 0), text }),
          );
        });
      const good = await start('--origin', page);
      assert.equal(good.status, 0, good.text);
      assert.match(good.text, /^ok {3}session-status: opens a session$/m);
      assert.match(good.text, /<secure-uploader\n {2}base-url="http:[^"]+"\n {2}parent-id="folder-a"/);
      assert.match(good.text, /\d{3} passed, 0 failed, \d+ skipped\n$/);
      assert.ok(!good.text.includes(token));
      const bad = await start('--origin', 'https://other.example', '--json');
      assert.equal(bad.status, 1);
      const { failed, results } = JSON.parse(bad.text);
      const failure = results.find(({ id }: { id: string }) => id === 'cors-response-open');
      assert.ok(failed > 10, `${failed} failed`);
      assert.deepEqual(failure, {
        id: 'cors-response-open',
        title: 'open: lets the page read the response',
        expected: 'Access-Control-Allow-Origin with the origin of the page, or *',
        docs: 'docs/service.md#what-the-service-must-do-for-a-page',
        outcome: 'fail',
        received: '201, Access-Control-Allow-Origin: missing',
      });
    } finally {
      await rig.end();
    }
  });
});

// `npm start`: prints one URL that works, uses other ports if the default ones are in use, and ends all processes together.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer as createViteServer } from 'vite';
import { builtWidget } from '../support/built.ts';
import { read } from '../support/documents.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const usualPort = 5173;

const preflightOf = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
});

describe('npm start', () => {
  let child: ChildProcess;
  let blocker: Server;
  const dataDir = temporaryFolder();
  let printed = '';
  let address = '';
  before(async () => {
    blocker = createServer();
    // If listening fails, another process already uses the default port, which has the same effect.
    await new Promise<void>((resolve) => {
      blocker.once('error', () => resolve());
      blocker.listen(usualPort, '127.0.0.1', resolve);
    });
    child = spawn(process.execPath, ['--import', 'tsx', 'scripts/start.mjs', `--data=${dataDir}`], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr?.pipe(process.stderr);
    child.stdout?.setEncoding('utf8');
    // Reads all output of the process, so that the process never writes to a closed pipe.
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (text) => {
        printed += text;
        if (printed.includes('Ctrl-C')) resolve();
      });
      child.stdout?.once('end', resolve);
    });
    address = /http:\S+/.exec(printed)?.[0] ?? '';
  });
  after(async () => {
    const hasEnded = child.exitCode !== null || once(child, 'exit');
    child.kill();
    await hasEnded;
    blocker.close();
  });

  test('prints one URL to open, and the demo users', () => {
    assert.match(printed, /^ {2}Open +http:\/\/localhost:\d+\/$/m);
    assert.match(printed, /^ {2}Sign in as +\S+@\S+/m);
    assert.match(printed, /^ {2}Password +\S+/m);
  });

  test('uses the next port if one is in use', () => {
    assert.notEqual(Number(new URL(address).port), usualPort);
  });

  test('serves the sources, but neither the keys of the service nor other files', async () => {
    const statusOf = async (file: string): Promise<number> =>
      (await fetch(new URL(`/@fs${root}${file}`, address))).status;
    assert.equal(await statusOf('src/core/errors.ts'), 200);
    // The folder `.data` is there too, if the service has run.
    for (const file of ['package.json', '.ci/run', 'test/package/sizes.json'])
      assert.equal(await statusOf(file), 403, file);
    const keys = await fetch(new URL(`/@fs${join(dataDir, 'keys.json')}`, address));
    assert.equal(keys.status, 403);
  });

  test('serves the page, which finds the service and its storage on separate origins', async () => {
    const page = await fetch(address);
    assert.match(await page.text(), /<script type="module"/);
    const config = await (await fetch(new URL('demo-config.json', address))).json();
    const origins = [address, config.baseUrl, config.storageUrl].map((url) => new URL(url).origin);
    assert.equal(new Set(origins).size, 3);
    const preflight = await fetch(`${config.baseUrl}/files/uploadsession`, {
      method: 'OPTIONS',
      headers: preflightOf(new URL(address).origin),
    });
    assert.equal(preflight.headers.get('access-control-allow-origin'), new URL(address).origin);
  });

  test('lets the page of the README use the service', async () => {
    const [, origin = ''] = /open (http:\/\/localhost:\d+)\./.exec(read('README.md')) ?? [];
    const { baseUrl } = await (await fetch(new URL('demo-config.json', address))).json();
    const allowed = await fetch(`${baseUrl}/files/uploadsession`, {
      method: 'OPTIONS',
      headers: preflightOf(origin),
    });
    assert.equal(allowed.headers.get('access-control-allow-origin'), origin);
    const other = await fetch(`${baseUrl}/files/uploadsession`, {
      method: 'OPTIONS',
      headers: preflightOf('http://localhost:5181'),
    });
    assert.equal(other.headers.get('access-control-allow-origin'), null);
  });

  test('says in one line that its folder is in use, and by what', async () => {
    const second = spawn(process.execPath, ['--import', 'tsx', 'scripts/start.mjs', `--data=${dataDir}`], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [status]] = await Promise.all([textOf(second.stderr), once(second, 'exit')]);
    assert.equal(status, 1);
    assert.match(
      said,
      /^\S+ is in use by process \d+ \(.*\): "npm start" or another service runs\. .*--data\.\n$/,
    );
  });

  test('serves the callback page beside the demo page', async () => {
    const page = await fetch(new URL('secure-uploader-callback.html', address));
    assert.match(await page.text(), /secure-uploader-callback\.js/);
    const script = await fetch(new URL('secure-uploader-callback.js', address));
    assert.equal(script.headers.get('content-type'), 'text/javascript');
  });

  test('ends everything on Ctrl-C', async () => {
    child.kill('SIGINT');
    const [status] = await once(child, 'exit');
    assert.equal(status, 0);
    await assert.rejects(fetch(address));
  });
});

test('the server of the page in the README sends the files of the build as they are, as their hashes demand', async () => {
  const built = builtWidget();
  const folder = temporaryFolder();
  const [, target = ''] = /copy `dist\/cdn` to `my-page([^`]*)`/.exec(read('README.md')) ?? [];
  const [, page = ''] = /```html\n(<!doctype[\s\S]*?)```/.exec(read('README.md')) ?? [];
  cpSync(built, join(folder, target), { recursive: true });
  writeFileSync(join(folder, 'index.html'), page);
  const server = await createViteServer({
    configFile: false,
    root: folder,
    logLevel: 'silent',
    server: { port: 0, hmr: false },
  });
  try {
    await server.listen();
    const [address = ''] = server.resolvedUrls?.local ?? [];
    const names = readdirSync(built).filter((name) => name.endsWith('.js'));
    assert.ok(names.length > 5);
    for (const name of names)
      assert.equal(
        await (await fetch(new URL(name, address))).text(),
        readFileSync(join(built, name), 'utf8'),
        name,
      );
    assert.match(
      await (await fetch(address)).text(),
      /<script type="module" src="\/secure-uploader\.min\.js">/,
    );
  } finally {
    await server.close();
  }
});

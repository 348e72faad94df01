// The service, started from the command line.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = fileURLToPath(new URL('../../demo/server/main.ts', import.meta.url));

async function start(t: TestContext, ...flags: string[]): Promise<{ process: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', main, '--data', temporaryFolder(), ...flags]);
  t.after(async () => {
    if (child.exitCode !== null || !child.kill('SIGKILL')) return;
    await once(child, 'exit');
  });
  let said = '';
  // Reads all output of the process, so that the process never writes to a closed pipe.
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (text) => {
      said += String(text);
      if (/^Folders.*\n/m.test(said)) resolve();
    });
    child.stdout.once('end', resolve);
  });
  return { process: child, said };
}

test('it prints its URLs and users, responds, and ends on Ctrl-C', async (t) => {
  const { process: child, said } = await start(t, '--host', '127.0.0.1', '--origin', 'http://app.test');
  const baseUrl = /Service +(\S+)/.exec(said)?.[1] ?? '';
  assert.match(said, /Storage +http:\/\/127\.0\.0\.1:\d+/);
  assert.match(said, /alice@example\.com/);
  const answer = await fetch(`${baseUrl}/.well-known/jwks.json`, { headers: { origin: 'http://app.test' } });
  assert.equal(answer.headers.get('access-control-allow-origin'), 'http://app.test');
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
});

test('its sign-in page has the form of the widget, or plain forms with --plain', async (t) => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'secure-uploader',
    redirect_uri: 'http://app.test/secure-uploader-callback.html',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 'some-state',
  });
  for (const [flags, hasWidget] of [
    [[], true],
    [['--plain'], false],
  ] as const) {
    const { said } = await start(t, '--origin', 'http://app.test', ...flags);
    const baseUrl = /Service +(\S+)/.exec(said)?.[1] ?? '';
    const page = await (await fetch(`${baseUrl}/authorize?${query}`)).text();
    assert.equal(page.includes('<secure-uploader-login'), hasWidget);
    assert.equal((await fetch(`${baseUrl}/authorize/login.js`)).status, hasWidget ? 200 : 404);
  }
});

test('a default port that is in use is skipped', async (t) => {
  const running = [await start(t), await start(t)];
  const addresses = running.flatMap(
    ({ said }) => said.match(/http:\/\/localhost:\d+(?= *\n)/g)?.slice(0, 2) ?? [],
  );
  assert.equal(new Set(addresses).size, 4, `two services and two storages: ${addresses}`);
  for (const { process: child } of running) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

test('with a port from the command line, the storage still has a default port', async (t) => {
  const { process: child, said } = await start(t, '--port', '0');
  assert.ok(Number(/Storage +http:\/\/localhost:(\d+)/.exec(said)?.[1]) >= 8788, said);
  child.kill('SIGTERM');
  await once(child, 'exit');
});

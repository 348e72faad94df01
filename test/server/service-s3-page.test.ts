// The page to try the example service for S3, which has the token of the trial.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { runInExample, SETTINGS, TOKEN } from '../support/service-s3.ts';

describe('The page of the example for S3', { timeout: 30_000 }, () => {
  const child = runInExample(['page.ts'], { ...SETTINGS, PAGE_PORT: '0' });
  let port = 0;
  before(async () => {
    const [said] = await once(child.stdout ?? child, 'data');
    port = Number(/:(\d+)/.exec(String(said))?.[1]);
  });
  after(async () => {
    child.kill();
    await once(child, 'close');
  });

  const ask = (host: string, method = 'GET'): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', method, headers: { host } }, async (response) => {
        let text = '';
        for await (const part of response) text += part;
        resolve({ status: response.statusCode ?? 0, text });
      });
      sent.once('error', reject).end();
    });

  test('has the token for its own names', async () => {
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `LOCALHOST:${port}`]) {
      const { status, text } = await ask(host);
      assert.equal(status, 200, host);
      assert.ok(text.includes(TOKEN), host);
    }
  });

  test('refuses each other name, which a foreign site could let resolve to this machine', async () => {
    const foreign = [
      'rebound.attacker.example',
      `rebound.attacker.example:${port}`,
      'localhost',
      `localhost:${port + 1}`,
    ];
    for (const host of [...foreign, `localhost:${port}.attacker.example`, `a.localhost:${port}`]) {
      const { status, text } = await ask(host);
      assert.equal(status, 421, host);
      assert.ok(!text.includes(TOKEN), host);
    }
  });

  test('takes no body, and closes the connection of one without end', async () => {
    assert.equal((await ask(`localhost:${port}`, 'POST')).status, 405);
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    socket.on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nhost: localhost:${port}\r\ntransfer-encoding: chunked\r\n\r\n1\r\n \r\n`);
    socket.resume();
    await closed;
  });
});

// Fair shares of the example service for S3: what strangers and one user can take from the others. In memory; test/stack has the
// database.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { copyExample, type RunningExample, startExample, VARIANTS } from '../support/service-s3.ts';
import { until } from '../support/until.ts';

/** The token of a user is the name. */
const HOOKS = `export async function authorize(request, { folder }) {
  const user = /^Bearer (user-\\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  if (!user) return 401;
  return folder === undefined || folder === 'folder-a' ? { user, freeBytes: 2 ** 40, maxFileBytes: 2 ** 40 } : 403;
}
export async function onCompleted() {}
export async function refuse() {}`;
const SESSION = '/files/uploadsession';
const FILE = JSON.stringify({ parent_id: 'folder-a', file_name: 'a', file_size: 1 });
const MIB = 2 ** 20;

for (const variant of Object.keys(VARIANTS) as (keyof typeof VARIANTS)[]) {
  describe(`The example for S3 on ${variant}, with many and endless requests`, { timeout: 60_000 }, () => {
    let example: RunningExample;
    const sockets: Socket[] = [];
    before(async () => {
      example = await startExample(variant, {}, { folder: copyExample(HOOKS) });
    });
    after(async () => {
      for (const socket of sockets) socket.destroy();
      await example.stop();
    });

    /** Sends the head of a request and the beginning of its body. The body never ends. */
    function begin(
      user: string,
      headers: string,
      path = SESSION,
      body = '',
    ): { socket: Socket; status: Promise<number> } {
      const { hostname, port } = new URL(example.baseUrl);
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${user}\r\ncontent-type: application/json\r\n${headers}\r\n${body}`,
      );
      const status = once(socket, 'data').then(([data]) =>
        Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]),
      );
      status.catch(() => undefined);
      return { socket, status };
    }
    const CHUNKED = 'transfer-encoding: chunked\r\n';
    const open = (user: string): Promise<Response> =>
      fetch(example.baseUrl + SESSION, {
        method: 'POST',
        headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
        body: FILE,
      });

    test('refuses a wrong token before its body arrives, and then closes the connection', async () => {
      for (const headers of ['content-length: 100000\r\n', CHUNKED])
        for (const path of [SESSION, `${SESSION}/chunks`, `${SESSION}/commit`, `${SESSION}/batch`]) {
          const { socket, status } = begin('nobody', headers, path);
          assert.equal(await status, 401, headers);
          if (!socket.destroyed && variant !== 'next') await once(socket, 'close');
        }
    });

    test('refuses a body of very many values, and none of the largest commit', async () => {
      const session = 'a'.repeat(32);
      const commit = (body: string): Promise<Response> =>
        fetch(`${example.baseUrl + SESSION}/commit`, {
          method: 'POST',
          headers: { authorization: 'Bearer user-values', 'x-service-uploadsession': session },
          body,
        });
      for (const value of ['{}', '[]', '0', '""'])
        assert.equal((await commit(`{"a":[${`${value},`.repeat(300_000)}0]}`)).status, 400, value);
      const hashes = Array.from({ length: 10_000 }, () => 'a'.repeat(64));
      assert.equal((await commit(JSON.stringify({ hashes, receipts: hashes }))).status, 404);
    });

    test('refuses a body that is too long, without its end, whatever length it says', async () => {
      const part = 'a'.repeat(64 * 1024);
      const chunk = `${part.length.toString(16)}\r\n${part}\r\n`;
      for (const [path, bytes] of [
        [SESSION, 64 * 1024],
        [`${SESSION}/chunks`, 64 * 1024],
        [`${SESSION}/commit`, 1.5 * MIB],
        [`${SESSION}/batch`, MIB / 2],
      ] as const) {
        const count = bytes / part.length + 1;
        assert.equal(await begin('user-long', CHUNKED, path, chunk.repeat(count)).status, 413, path);
        assert.equal(await begin('user-long', `content-length: ${bytes + 1}\r\n`, path).status, 413, path);
      }
    });

    test('refuses a body of very many small parts', async () => {
      const { socket, status } = begin('user-crumbs', CHUNKED);
      const isOpen = () => !socket.destroyed && !socket.writableEnded;
      let isOver = false;
      void status.then(() => (isOver = true));
      // Each part in its own turn, so that the server gets them one by one.
      for (let count = 0; count < 5000 && !isOver && isOpen(); count += 1) {
        await new Promise((resolve) => socket.write('1\r\n \r\n', resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(await status, 413);
    });

    test('lets eight requests of a user run at once, and refuses others before their bodies, but no other user', async () => {
      const running = Array.from({ length: 8 }, () =>
        begin('user-many', 'content-length: 100\r\n', SESSION, '{'),
      );
      const refused = await until(async () => {
        const response = await open('user-many');
        return response.status === 429 && response;
      });
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.equal(await begin('user-many', CHUNKED).status, 429);
      assert.equal((await open('user-other')).status, 201);
      for (const { socket } of running) socket.destroy();
      await until(async () => (await open('user-many')).status === 201);
    });
  });
}

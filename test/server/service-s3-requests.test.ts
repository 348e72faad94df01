// The example service for S3 with requests that are no valid HTTP or end too early. Neither the response nor the log may have the
// reason: it has paths of the server, and the URL of the request.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type RunningExample, startExample, TOKEN } from '../support/service-s3.ts';

const SECRET = 'secret-of-a-client';
const HEAD = `host: a\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\n`;
const post = (path: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\n${HEAD}${headers}content-length: 2\r\n\r\n{}`;
const PATH = `/files/uploadsession?${SECRET}`;
const REQUESTS = {
  'a path that is not decodable': post(`/files/%ff%zz?${SECRET}`),
  'a path that is no URL': post(`//[${SECRET}`),
  'an origin that is no URL': post(`http://[${SECRET}/files/uploadsession`),
  'a foreign origin': post(`http://other.example${PATH}`),
  'a host that is no URL': `POST ${PATH} HTTP/1.1\r\nhost: [${SECRET}\r\ncontent-length: 2\r\n\r\n{}`,
  'the method TRACE': `TRACE ${PATH} HTTP/1.1\r\n${HEAD}\r\n`,
  'an unknown charset': post(PATH).replace('json', `json; charset=${SECRET}`),
  'an unknown encoding': post(PATH, `content-encoding: ${SECRET}\r\n`),
  'a false encoding': post(PATH, 'content-encoding: gzip\r\n'),
  'an unknown expectation': post(PATH, `expect: ${SECRET}\r\n`),
  'control characters in a header': post(PATH, `x-service-uploadsession: ${SECRET}\u0001\r\n`),
  'large headers': post(PATH, `x-a: ${SECRET.repeat(2000)}\r\n`),
  'two lengths': post(PATH, 'transfer-encoding: chunked\r\n'),
  'deep JSON': `POST ${PATH} HTTP/1.1\r\n${HEAD}content-length: 200000\r\n\r\n${'['.repeat(200_000)}`,
  // One byte too much: the server reads the whole body, so that it need not reset the connection.
  'a large body': `POST ${PATH} HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\n400001\r\n${'a'.repeat(4 * 2 ** 20 + 1)}\r\n0\r\n\r\n`,
};
const UNFINISHED = [
  `POST ${PATH} HTTP/1.1\r\n${HEAD}content-length: 1000\r\n\r\n{"${SECRET}`,
  `POST ${PATH} HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\nfffff\r\n{"${SECRET}`,
];

for (const variant of ['hono', 'express'] as const) {
  describe(`The example for S3 on ${variant}, with malformed requests`, () => {
    let example: RunningExample;
    before(async () => {
      example = await startExample(variant);
    });
    after(() => example.stop());

    /** Sends text, and resolves with the response, or with `''` if the connection is closed after the text. */
    async function send(text: string, { isClosed = false } = {}): Promise<string> {
      const { hostname, port } = new URL(example.baseUrl);
      const socket = connect(Number(port), hostname);
      const closed = once(socket, 'close');
      let said = '';
      const answered = new Promise<void>((resolve) => {
        socket.on('data', (part) => {
          said += part;
          resolve();
        });
      });
      await new Promise((resolve) => socket.write(text, resolve));
      if (!isClosed) await Promise.race([answered, closed]);
      socket.destroy();
      await closed;
      return said;
    }

    for (const [what, text] of Object.entries(REQUESTS))
      test(`refuses ${what}, and says no more`, async () => {
        const answer = await send(text);
        assert.match(answer, /^HTTP\/1\.1 4\d\d /);
        assert.doesNotMatch(answer, /node_modules|\.ts:|Error:|\n *at /);
        assert.ok(!answer.includes(SECRET), answer);
      });

    test('prints lines of JSON only, also about requests that are cut off', async () => {
      for (const text of UNFINISHED) await send(text, { isClosed: true });
      // It ends after it has seen that all connections are closed.
      await example.stop();
      assert.ok(!example.output().includes(SECRET), example.output());
      const lines = example.output().trim().split('\n');
      for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
      assert.equal(JSON.parse(lines[0] ?? '').url, example.baseUrl);
    });
  });
}

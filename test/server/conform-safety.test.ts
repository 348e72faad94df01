// `secure-uploader conform` and a hostile service: where it sends requests, how long it runs, and what its report contains.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Options, readOptions } from '../../src/cli/options.ts';
import { reportText } from '../../src/cli/report.ts';
import { targetOf } from '../../src/cli/target.ts';
import { runConform } from '../support/conform.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Respond = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** Starts a server on this machine. Resolves with its URL. */
async function startServer(t: TestContext, respond: Respond): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => respond(request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service whose entries have these fields. */
const presigning =
  (entry: (hash: string) => object, opened: object = { session_id: 'session-of-the-user' }): Respond =>
  ({ url = '' }, body, response) => {
    const [, list = ''] = /"hashes":\[([^\]]*)\]/.exec(body) ?? [];
    const hashes = [...list.matchAll(/"([^"]+)"/g)].map(([, hash = '']) => hash);
    const chunks = Object.fromEntries(hashes.map((hash) => [hash, entry(hash)]));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url.endsWith('/chunks') ? { chunks } : opened));
  };

const optionsOf = (more: Partial<Options>): Options => ({
  ...(readOptions(['conform', '--base-url', 'https://93.184.216.34', '--parent-id', 'a']) as Options),
  ...more,
});

const reasonOf = async (url: string, more: Partial<Options> = {}): Promise<string> =>
  targetOf(url, optionsOf(more)).then(
    ({ target }) => target.address,
    ({ message }: Error) => message,
  );

test('a service on the internet cannot have requests sent to the networks of this machine', async () => {
  for (const host of [
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]', 'localhost'],
    ...['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', '[fd00::1]', '[::ffff:10.0.0.1]'],
    ...[
      '169.254.169.254',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '[::ffff:169.254.169.254]',
      '0x7f.1',
      '2130706433',
    ],
  ])
    assert.match(await reasonOf(`https://${host}/put`), /^nothing was sent: .*address/, host);
  for (const host of [
    ...[
      '[::7f00:1]',
      '[::a9fe:a9fe]',
      '[2002:a9fe:a9fe::1]',
      '[64:ff9b::a9fe:a9fe]',
      '[64:ff9b:1::a9fe:a9fe]',
    ],
    ...['192.0.0.192', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '[fec0::1]', '[ff02::1]'],
    ...['[2001::1]', '[2001:db8::1]', '[3fff::1]', '[4000::1]', '[100::1]', '[::ffff:192.0.0.192]'],
  ]) {
    const refused = /^nothing was sent: .* reserved address/;
    assert.match(await reasonOf(`https://${host}/put`), refused, host);
    assert.match(await reasonOf(`https://${host}/put`, { baseUrl: `https://${host}` }), refused, host);
  }
  for (const host of [
    '1.1.1.1',
    '[2606:4700::1111]',
    '[::ffff:93.184.216.34]',
    '223.255.255.255',
    '[2a00::1]',
  ])
    assert.doesNotMatch(await reasonOf(`https://${host}/put`), /nothing was sent/, host);
  assert.equal(await reasonOf('https://93.184.216.34:8443/put'), '93.184.216.34');
  assert.match(await reasonOf('http://93.184.216.34/put'), /^nothing was sent: .*https/);
});

test('an address of a network is called if the service is on the same kind, or its origin was named', async () => {
  const uploadOrigins = ['https://10.1.2.3', 'https://169.254.169.254'];
  assert.equal(await reasonOf('https://10.1.2.3/put', { uploadOrigins }), '10.1.2.3');
  assert.equal(await reasonOf('https://192.168.1.2/put', { baseUrl: 'https://10.0.0.1' }), '192.168.1.2');
  assert.equal(await reasonOf('http://127.0.0.1:9/put', { baseUrl: 'http://localhost' }), '127.0.0.1');
  assert.match(await reasonOf('https://127.0.0.1/put', { baseUrl: 'https://10.0.0.1' }), /loopback/);
  const linkLocal = { uploadOrigins, baseUrl: 'https://169.254.1.1' };
  assert.match(await reasonOf('https://169.254.169.254/put', linkLocal), /link-local/);
});

test('nothing is sent for a method or a header that the uploader refuses', async (t) => {
  const called: string[] = [];
  const inner = await startServer(t, ({ method }, _body, response) => {
    called.push(String(method));
    response.end('the secrets of another server');
  });
  for (const wrong of [
    { method: 'DELETE' },
    { headers: { authorization: 'x' } },
    { headers: { cookie: 'a=1' } },
  ]) {
    const baseUrl = await startServer(
      t,
      presigning((hash) => ({ upload_url: `${inner}/latest/api/token`, receipt: `of ${hash}`, ...wrong })),
    );
    const { failed, results } = await runConform({ 'base-url': baseUrl, 'parent-id': 'a' });
    assert.ok(failed > 0);
    assert.ok(!JSON.stringify(results).includes('the secrets of another server'));
  }
  assert.deepEqual(called, []);
});

test('requests with the token are sent only below the base URL', async (t) => {
  const called: string[] = [];
  const origin = await startServer(t, ({ url = '' }, _body, response) => {
    called.push(url);
    response.end('{}');
  });
  const paths = [`${origin}/other`, `${origin}/api.other`, '/../other', '%2e%2e/other'];
  for (const path of [...paths, '..%2fother', '%252e%252e/other'])
    await assert.rejects(
      runConform({ 'base-url': `${origin}/api`, 'parent-id': 'a', token: 'a', 'session-path': path }),
      { message: /is not below the base URL$/ },
    );
  assert.deepEqual(
    called.filter((url) => !url.startsWith('/api/')),
    [],
  );
});

test('the report contains neither secrets nor characters that control a terminal', async (t) => {
  const secrets = [
    'session-secret',
    'passport-of-the-user',
    'receipt-1234',
    'signature-abcd',
    'the-token-of-the-user',
    'Part-8a7b',
    'KEY-abc1',
  ];
  const [session, passport, receipt, signature, token = '', part, key] = secrets;
  const control = '\u001b[2J\u0007\n::error::\u202e\u2028\u0085';
  const baseUrl: string = await startServer(t, (request, body, response) => {
    response.setHeader('location', `https://other.example/?token=${token}`);
    if (request.method === 'PUT') {
      response.statusCode = 403;
      return response.end(`${control} ${token} ${session} ${part} ${key}`);
    }
    const opened = { session_id: session, passport, debuginfo: control, apikey: key };
    const url = `${baseUrl}/put/${part}/${control}?X-Signature=${signature}`;
    return presigning((hash) => ({ upload_url: url, receipt: receipt + hash }), opened)(
      request,
      body,
      response,
    );
  });
  const report = await runConform({ 'base-url': baseUrl, 'parent-id': 'a', token });
  for (const printed of [reportText(report), JSON.stringify(report)]) {
    for (const secret of secrets) assert.ok(!printed.includes(secret), secret);
    assert.doesNotMatch(printed, /[^\P{Cc}\n]|[\p{Cf}\u2028\u2029]/u);
    assert.doesNotMatch(printed, /^::error/m);
  }
  assert.match(reportText(report), /\\u001b/);
  assert.match(JSON.stringify(report), /<secret \d+>/);
});

test('a service that sends a byte from time to time does not keep it busy', async (t) => {
  let respondedCount = 0;
  const baseUrl = await startServer(t, (_request, _body, response) => {
    if (respondedCount > 0) {
      respondedCount -= 1;
      return response.end('{}');
    }
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  const options = { 'base-url': baseUrl, 'parent-id': 'a', limit: '0.3' };
  await assert.rejects(runConform(options), { message: /^no response: .* aborted$/ });
  respondedCount = 1;
  const { results } = await runConform(options);
  assert.equal(results.at(-1)?.received, 'the run took longer than 0.3 s');
});

test('tokens come from a file or the environment, and are sent over http only to this machine', async (t) => {
  const folder = temporaryFolder();
  const file = join(folder, 'token');
  await writeFile(file, 'from-the-file\n');
  const read = (baseUrl: string, ...args: string[]): Options | undefined =>
    readOptions(['conform', '--base-url', baseUrl, '--parent-id', 'a', ...args]);
  assert.equal(read('https://a.example', '--token-file', file)?.token, 'from-the-file');
  for (const text of ['{ "access_token": "a" }', 'Bearer a', '', 'a\nb']) {
    await writeFile(file, text);
    assert.throws(() => read('https://a.example', '--token-file', file), /must hold only the token$/);
  }
  process.env.SECURE_UPLOADER_TOKEN = 'from-the-environment';
  t.after(() => delete process.env.SECURE_UPLOADER_TOKEN);
  assert.equal(read('http://localhost:1')?.token, 'from-the-environment');
  assert.throws(() => read('http://a.example'), /--base-url must use https/);
  for (const origin of ['localhost:5173', 'a.example', 'null'])
    assert.throws(() => read('https://a.example', '--origin', origin), /--origin must be an absolute URL/);
  for (const name of ['token', 'second-token'])
    assert.throws(() => read('https://a.example', `--${name}`, 't'), new RegExp(`'--${name}'`));
});

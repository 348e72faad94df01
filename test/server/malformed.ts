// Creates malformed HTTP requests from a seed; equal seeds give equal requests. Invalid values come from fixed lists, so the
// service keeps a limited amount of data for them (failed sign-ins, for example). Growing memory therefore means a leak.

/** Port of the service that a request is sent to. */
export type Port = 'service' | 'storage';

export interface RawRequest {
  port: Port;
  bytes: Buffer;
  /** True if the request is incomplete. The service cannot respond, so the sender must close its half of the connection. */
  isCutOff: boolean;
}

/** Valid credentials, so that some requests pass the checks of token and passport. */
export interface Secrets {
  host: Record<Port, string>;
  origin: string;
  bearer: string;
  passport: string;
  cookie: string;
  /** Path and query of a presigned URL. */
  chunk: string;
}

/** Returns a random number generator (mulberry32) for numbers from 0 (included) to 1 (excluded). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE', 'CONNECT', 'PROPFIND'];
const badMethods = ['get', 'G\0T', 'GÄT', '', ' ', 'M-SEARCH', 'X'.repeat(300), 'PRI', 'POST\t', '"GET"'];
const operations: Record<Port, readonly string[]> = {
  service: [
    'GET /',
    'GET /authorize?response_type=code&client_id=secure-uploader',
    'GET /authorize?idp_id=corp',
    'POST /authorize/sign-in?client_id=secure-uploader',
    'POST /authorize/challenge',
    'POST /auth/login',
    'POST /auth/token',
    'POST /auth/challenge',
    'GET /files?parent_id=folder-a',
    'GET /files/file_welcome',
    'POST /files/uploadsession',
    'POST /files/uploadsession/chunks',
    'POST /files/uploadsession/commit',
    'POST /files/uploadsession/batch',
    'GET /.well-known/jwks.json',
    'GET /_demo',
    'POST /_demo/push',
    'GET /_test/log',
  ],
  storage: [`PUT /chunks/user-alice/${'0'.repeat(64)}?Expires=1&max-length=1&signature=x`, 'OPTIONS /chunks'],
};
const badTargets = [
  '//',
  '//x',
  '///',
  '/\\',
  '\\',
  '*',
  '',
  '?',
  '#',
  'x',
  'http://[',
  'http://',
  'http://evil.test/files',
  'http://localhost:99999/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '/%',
  '/%zz',
  '/%00',
  '/%c0%af',
  '/files/%',
  '/files/%ff',
  '/files/..%2f..%2fkeys.json',
  '/files/../../keys.json',
  '/authorize?state=%ff&redirect_uri=%',
  '/authorize?redirect_uri=http://[',
  '/authorize?client_id=secure-uploader&redirect_uri=%00',
  '/chunks',
  '/chunks/user-alice',
  `/chunks/user-alice/${'0'.repeat(64)}`,
  `/chunks/user-alice/${'0'.repeat(64)}?Expires=NaN&max-length=1&signature=x`,
  `/chunks/user-alice/${'0'.repeat(64)}?Expires=1e400&max-length=-1`,
  `/chunks/user-alice/${'0'.repeat(64)}?Expires=9e15&max-length=9007199254740991&signature=%`,
  `/${'a'.repeat(20_000)}`,
  `/files?parent_id=${'b'.repeat(9_000)}`,
  '/\u00e9\u{1f600}',
  '/a b',
  '/\t',
  '/\x01',
];
const versions = ['HTTP/1.0', 'HTTP/9.9', 'HTTP/2.0', 'HTTP/1.', 'http/1.1', '', 'HTTP/1.1 x', 'RTSP/1.0'];
const junk = [
  '',
  ' ',
  'x',
  '*',
  'null',
  'undefined',
  '-1',
  'NaN',
  '1e999',
  '%',
  '%ff',
  '\x7f',
  '\u00e9',
  '\u00ff\u00fe',
  'a\tb',
  '[',
  '{}',
  '"',
  ',',
  ',,,',
  ';;=;',
  'http://[',
  'http://evil.test',
  '__proto__',
  '../../x',
  '....',
  'y'.repeat(5_000),
];
const headerNames = [
  'origin',
  'cookie',
  'authorization',
  'x-service-uploadsession',
  'content-type',
  'content-encoding',
  'accept',
  'accept-encoding',
  'range',
  'if-none-match',
  'x-forwarded-for',
  'x-forwarded-proto',
  'forwarded',
  'referer',
  'access-control-request-method',
  'access-control-request-headers',
  '__proto__',
  'constructor',
  'sec-fetch-mode',
  'date',
];
const rawHeaders = [
  'Expect: 100-continue',
  'Expect: a miracle',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Connection: close, x, \u00e9',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, chunked',
  'Content-Length: -1',
  'Content-Length: 1e3',
  'Content-Length: 99999999999999999999',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 3\r\nTransfer-Encoding: chunked',
  'Host: evil.test',
  'Host: [',
  'Host:',
  'Host: a b',
  'Host: localhost:99999',
  'no colon at all',
  ': no name',
  'bad name: x',
  'nul: \0',
  'folded: a\r\n b',
  'bare-cr: a\rb',
  `long: ${'z'.repeat(17_000)}`,
  Array.from({ length: 200 }, (_, index) => `many-${index}: 1`).join('\r\n'),
  Array.from({ length: 50 }, (_, index) => `cookie: su_session=${index}`).join('\r\n'),
];
const badBodies = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '5',
  '\uFEFF{}',
  '{"a":1}x',
  `${'['.repeat(20_000)}`,
  `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
  '{"__proto__":{"status":"ok"},"constructor":{"prototype":{}}}',
  '{"hashes":{"length":1e9},"receipts":"x"}',
  `{"hashes":[${'"x",'.repeat(500)}"x"],"receipts":[]}`,
  'a=1&a=2&=&&%=%ff',
  `email=${'e'.repeat(20_000)}`,
];
const fields: Record<string, unknown> = {
  idp_id: 'local',
  email: 'nobody@example.com',
  password: '',
  code_challenge: 'a'.repeat(43),
  challenge_token: 'x',
  action: 'answer',
  method: 'passkey',
  code: 'x',
  credential: { id: 'x', response: {} },
  code_verifier: 'y',
  parent_id: 'folder-a',
  file_name: '',
  file_size: 1,
  hashes: ['0'.repeat(64)],
  receipts: ['x'],
};
const badValues = [
  null,
  0,
  -1,
  1e308,
  true,
  '',
  '\ud800',
  '\0',
  [],
  [null],
  {},
  { length: 1 },
  'q'.repeat(3_000),
];

/** Returns the next malformed request. */
export function malformedRequest(random: () => number, secrets: Secrets): RawRequest {
  const chance = (of: number): boolean => random() < of;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const port = pick<Port>(['service', 'service', 'storage']);

  // Half of the requests have an invalid first line. In the others, the first line is valid, so that the service reads the invalid
  // parts after it.
  const [known = '', path = ''] = pick([...operations[port], `PUT ${secrets.chunk}`]).split(' ');
  const isBroken = chance(0.5);
  const method = isBroken && chance(0.5) ? pick(chance(0.3) ? badMethods : methods) : known;
  const target = isBroken && chance(0.7) ? pick(badTargets) : path;
  const version = isBroken && chance(0.1) ? pick(versions) : 'HTTP/1.1';
  const lines = [`${method} ${target} ${version}`];
  if (chance(0.97)) lines.push(`Host: ${secrets.host[port]}`);
  if (chance(0.6)) lines.push(`Origin: ${secrets.origin}`);
  if (chance(0.5)) lines.push(`Authorization: Bearer ${secrets.bearer}`);
  if (chance(0.4)) lines.push(`x-service-uploadsession: ${secrets.passport}`);
  if (chance(0.2)) lines.push(`Cookie: ${secrets.cookie}`);
  while (chance(0.25)) lines.push(`${pick(headerNames)}: ${pick(junk)}`);
  if (chance(0.1)) lines.push(pick(rawHeaders));

  let body: Buffer = Buffer.alloc(0);
  let isCutOff = chance(0.05);
  if (chance(0.6)) {
    lines.push(chance(0.8) ? 'Content-Type: application/json' : `Content-Type: ${pick(junk)}`);
    body = Buffer.from(chance(0.4) ? pick(badBodies) : jsonBody(), chance(0.9) ? 'utf8' : 'latin1');
    if (chance(0.1)) body = Buffer.concat([body, Buffer.from([0xff, 0xc0, 0x80])]);
    const framing = random();
    if (framing < 0.85) lines.push(`Content-Length: ${body.length}`);
    else if (framing < 0.9) {
      lines.push(`Content-Length: ${body.length + 100}`);
      isCutOff = true;
    } else {
      lines.push('Transfer-Encoding: chunked');
      const size = pick([body.length.toString(16), 'zz', '-5', 'fffffffffffffffff', `${body.length}; x=y`]);
      body = Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
      isCutOff = true;
    }
  }
  lines.push('Connection: close');
  const head = Buffer.from(
    `${lines.join(chance(0.97) ? '\r\n' : '\n')}\r\n\r\n`,
    chance(0.9) ? 'latin1' : 'utf8',
  );
  let bytes = Buffer.concat([head, body]);
  if (chance(0.08)) {
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    isCutOff = true;
  }
  if (chance(0.05)) {
    bytes = bytes.subarray(0, Math.floor(random() * bytes.length));
    isCutOff = true;
  }
  return { port, bytes, isCutOff };

  function someFields(): Record<string, unknown> {
    const some: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(fields)) {
      if (chance(0.5)) some[name] = chance(0.3) ? pick(badValues) : value;
    }
    return some;
  }
  function jsonBody(): string {
    if (!path.endsWith('/batch')) return JSON.stringify(someFields());
    const file = (): unknown =>
      chance(0.2) ? pick(badValues) : { session: secrets.passport, ...someFields() };
    return JSON.stringify({ [pick(['open', 'commit'])]: [file(), file()] });
  }
}

// Checks the requests and responses in docs/service.md and docs/s3.md against the code that writes and reads them. Also checks the
// JSON and the anchors of links of all guides.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fillProfile } from '../../src/service/profile.ts';
import {
  commitBody,
  type Operation,
  presignBody,
  readCommitted,
  readMissing,
  readRefusal,
  readSession,
  readTickets,
  sessionBody,
} from '../../src/service/wire.ts';
import { answerOf } from '../service/answer-of.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  );

const guides = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'src/README.md',
  'demo/server/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

interface Message {
  /** First line: `POST /files/uploadsession` for a request, `HTTP/1.1 200 OK` for a response. */
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

function parseMessage(block: string): Message {
  const [head = '', ...rest] = block.split('\n\n');
  const [start = '', ...lines] = head.trim().split('\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2)));
  const body = 'Content-Type' in headers ? JSON.parse(rest.join('\n\n')) : undefined;
  return { start, headers, body };
}

const messages = blocksOf(read('docs/service.md'), 'http').map(parseMessage);
const request = (start: string): Message => {
  const found = messages.find((message) => message.start.startsWith(start));
  assert.ok(found, `no example of ${start}`);
  return found;
};
const responseTo = (start: string): Message => {
  const response = messages[messages.indexOf(request(start)) + 1];
  assert.match(response?.start ?? '', /^HTTP\/1\.1 2/);
  return response as Message;
};
const statusOf = ({ start }: Message): number => Number(start.split(' ')[1]);
const answer = (message: Message): ReturnType<typeof answerOf> =>
  answerOf({ status: statusOf(message), body: message.body, headers: message.headers });

const PROFILE = fillProfile({});
const RULES = { baseUrl: 'https://files.example.com', uploadOrigins: [], authHeader: 'Authorization' };
const SESSION = 'POST /files/uploadsession';

describe('The examples of the service', () => {
  test('open a session as the uploader does, with the response that it reads', () => {
    const { body } = request(SESSION);
    const sent = { parentId: 'folder-a', fileName: 'report.pdf', fileSize: 20_971_520 };
    assert.deepEqual(body, sessionBody(sent));
    const session = readSession(answer(responseTo(SESSION)), PROFILE);
    for (const { start, headers } of messages) {
      if (/^(POST|DELETE) \/files\/uploadsession(?!\/batch)./.test(start))
        assert.equal(headers['x-service-uploadsession'], session.header);
    }
  });

  test('presign chunks, one of which is already stored', () => {
    const { hashes } = request(`${SESSION}/chunks`).body as { hashes: string[] };
    const chunks = hashes.map((hash) => ({ hash, sizeBytes: 1 }));
    assert.deepEqual(presignBody(chunks, PROFILE), { hashes });
    const response = answer(responseTo(`${SESSION}/chunks`));
    const tickets = [...readTickets(response, hashes, PROFILE, RULES).values()];
    assert.deepEqual(
      tickets.map(({ upload }) => upload?.url),
      [request('PUT').start.slice('PUT '.length), undefined],
    );
  });

  test('commit, and list the missing chunks', () => {
    const body = request(`${SESSION}/commit`).body as { hashes: string[]; receipts: string[] };
    assert.deepEqual(JSON.parse(JSON.stringify(commitBody(body, PROFILE))), body);
    const committed = responseTo(`${SESSION}/commit`);
    assert.deepEqual(readCommitted(answer(committed)), committed.body);
    assert.deepEqual(readMissing(answer(request('HTTP/1.1 409')), body.hashes, PROFILE), [body.hashes[0]]);
  });

  test('open and commit files in batches, with answers like those of the single operations', () => {
    const batches = messages.filter(({ start }) => start === `${SESSION}/batch`);
    const answersTo = (batch: Message): Message[] => {
      const { body } = messages[messages.indexOf(batch) + 1] ?? {};
      const { answers } = body as { answers: { status: number; body: unknown; retry_after?: number }[] };
      return answers.map(({ status, body: said, retry_after }) => ({
        start: `HTTP/1.1 ${status}`,
        headers: retry_after === undefined ? {} : { 'Retry-After': `${retry_after}` },
        body: said,
      }));
    };
    const [open, commit] = batches;
    assert.ok(open && commit && batches.length === 2);
    const files = (open.body as { open: { file_name: string; hashes: string[] }[] }).open;
    const [opened, taken, later, ...more] = answersTo(open).map(answer);
    assert.ok(opened && taken && later);
    assert.deepEqual([more.length, files.length], [0, 3]);
    const { header } = readSession(opened, PROFILE);
    const [file] = (commit.body as { commit: { session: string; hashes: string[] }[] }).commit;
    const { hashes = [] } = files[0] ?? {};
    assert.deepEqual([file?.session, file?.hashes], [header, hashes]);
    assert.equal(readTickets(opened, hashes, PROFILE, RULES).size, 1);
    assert.equal(readRefusal(taken, 'open', PROFILE).code, 'name-taken');
    assert.equal(readRefusal(later, 'open', PROFILE).retryAfterMs, 60_000);
    const [committed, , missing] = answersTo(commit).map(answer);
    assert.ok(committed && missing);
    assert.deepEqual(readCommitted(committed), committed.body);
    assert.deepEqual(readMissing(missing, files[1]?.hashes ?? [], PROFILE), files[1]?.hashes);
  });

  test('are errors with the codes of the table', () => {
    const codeOf = (status: number, operation: Operation = 'presign'): string =>
      readRefusal(answerOf({ status, body: { debuginfo: 'x' } }), operation, PROFILE).code;
    for (const [status, operation] of [
      [404, 'open'],
      [405, 'commit'],
    ] as const)
      assert.equal(readRefusal(answerOf({ status }), operation, PROFILE).code, 'service-not-found');
    const rows = [...read('docs/service.md').matchAll(/^\| (\d{3}[^|\n]*) \|[^|\n]*\| (`[^|\n]+) \|/gm)];
    assert.equal(rows.length, 10);
    for (const [, cell = '', codes = ''] of rows) {
      const code = codes.replace(/^.* else /, '').replaceAll('`', '');
      for (const part of cell.split(';')) {
        const operation = /when opening/.test(part) ? 'open' : 'presign';
        for (const status of part.match(/\d{3}/g) ?? [])
          assert.equal(codeOf(Number(status), operation), code, part);
      }
    }
    assert.equal(codeOf(409, 'commit'), 'name-taken');
    assert.equal(codeOf(413, 'open'), 'file-too-large');
    const examples = messages.filter(({ start }) => /^HTTP\/1\.1 (?:4(?!09)|503)/.test(start));
    assert.deepEqual(
      examples.map((example) => {
        const { code, debugInfo, retryAfterMs } = readRefusal(answer(example), 'presign', PROFILE);
        assert.equal(debugInfo, (example.body as { debuginfo: string }).debuginfo);
        return [statusOf(example), code, retryAfterMs].join(' ').trim();
      }),
      [
        '400 upload-refused',
        '401 token-rejected',
        '403 forbidden',
        '404 session-expired',
        '410 session-expired',
        '413 upload-refused',
        '422 upload-refused',
        '429 rate-limited 5000',
        '503 rate-limited 30000',
      ],
    );
  });

  test('of an S3 store can be read, and the CORS rules allow their headers', () => {
    const [entries = '', cors = ''] = blocksOf(read('docs/s3.md'), 'json');
    const body = JSON.parse(entries) as { chunks: object };
    const hashes = Object.keys(body.chunks);
    const [ticket] = readTickets(answerOf({ body }), hashes, PROFILE, RULES).values();
    const sent = Object.keys(ticket?.upload?.headers ?? {});
    assert.deepEqual(sent, ['x-amz-content-sha256', 'x-amz-acl', 'content-type']);
    const [{ AllowedHeaders: allowed }] = JSON.parse(cors) as [{ AllowedHeaders: string[] }];
    assert.deepEqual(
      sent.filter((header) => !allowed.includes(header)),
      [],
    );
  });
});

test('The JSON blocks of all guides are valid', () => {
  const blocks = guides.flatMap((file) => blocksOf(read(file), 'json').map((code) => ({ file, code })));
  const openedCount = guides.flatMap((file) => read(file).split('```json').slice(1)).length;
  assert.ok(openedCount > 0);
  assert.equal(blocks.length, openedCount);
  for (const { file, code } of blocks) assert.doesNotThrow(() => JSON.parse(code), `${file}: ${code}`);
});

test('Links refer to existing headings', () => {
  const anchorsOf = (file: string): string[] =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );
  const broken = guides.flatMap((file) =>
    [...read(file).matchAll(/\]\(([^)\s#]*)#([^)]+)\)/g)]
      .filter(([, path = '']) => !path.startsWith('http'))
      .filter(([, path = '', anchor = '']) => {
        const target = path ? join(dirname(file), path) : file;
        return !existsSync(join(root, target)) || !anchorsOf(target).includes(anchor);
      })
      .map(([link]) => `${file}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

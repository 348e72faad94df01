// The service survives malformed requests on both ports: 1,000 requests, or 20,000 at full size, which also leak no
// memory.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { firstSeed, isFullSize } from '../../scripts/scope.mjs';
import { malformedRequest, type Port, type RawRequest, randomFrom, type Secrets } from './malformed.ts';
import { challenge, redeem } from './sign-in-steps.ts';
import { ask, page } from './support.ts';

const COUNT = isFullSize ? 20_000 : 1_000;
const AT_ONCE = 24;
// Time limit for a response. Valid responses are faster, and the sender ends incomplete requests, for which the service would
// wait.
const ANSWER_MS = 20_000;

interface Running {
  baseUrl: string;
  storageUrl: string;
  password: string;
}

let child: ChildProcess;
let service: Running;
let errors = '';
before(async () => {
  const script = fileURLToPath(new URL('./fuzz-service.ts', import.meta.url));
  child = fork(script, {
    execArgv: ['--import', 'tsx', '--expose-gc'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  child.stderr?.on('data', (text) => {
    errors += String(text);
  });
  [service] = (await once(child, 'message')) as [Running];
});
after(async () => {
  if (child.exitCode !== null) return;
  child.disconnect();
  await once(child, 'exit');
});

test('malformed requests on both ports neither end the process nor cause a server error', async () => {
  const random = randomFrom(firstSeed);
  const secrets = await signIn();
  const send = async (count: number): Promise<void> => {
    const lane = async (): Promise<void> => {
      while (count > 0) {
        count -= 1;
        await sendOne(malformedRequest(random, secrets));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
  await send(COUNT / 4);
  const early = await usedBytes();
  await send((COUNT * 3) / 4);
  const late = await usedBytes();
  assert.equal(errors, '', 'nothing unexpected is written to the console');
  // Memory depends on the machine, so only a run at full size judges it.
  if (isFullSize)
    assert.ok(late < early * 1.25, `memory went from ${early} to ${late} bytes over ${COUNT} requests`);
  const answer = await fetch(`${service.baseUrl}/.well-known/jwks.json`);
  assert.equal(answer.status, 200);
});

async function sendOne(request: RawRequest): Promise<void> {
  const answer = await exchange(request);
  const shown = JSON.stringify(request.bytes.toString('latin1').slice(0, 400));
  assert.equal(child.exitCode, null, `the process ended, last request ${shown}: ${errors.slice(0, 500)}`);
  for (const [, status] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
    assert.ok(
      Number(status) < 500 || status === '503',
      `${status} on ${request.port} for ${shown}: ${answer}`,
    );
  }
}

/** Sends the bytes and resolves with everything that was received until the connection closed. */
function exchange({ port, bytes, isCutOff }: RawRequest): Promise<string> {
  const addresses: Record<Port, string> = {
    service: service.baseUrl,
    storage: service.storageUrl,
  };
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({
      port: Number(new URL(addresses[port]).port),
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    socket.setTimeout(ANSWER_MS, () => {
      socket.destroy();
      reject(new Error(`no answer to ${JSON.stringify(bytes.toString('latin1').slice(0, 400))}: ${answer}`));
    });
    socket.on('connect', () => (isCutOff ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (text) => {
      answer += text.toString('latin1');
    });
    // The service may respond and close the connection before the request is sent completely.
    socket.on('error', () => resolve(answer));
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(answer));
  });
}

async function signIn(): Promise<Secrets> {
  const { baseUrl, storageUrl, password } = service;
  const body = { idp_id: 'local', email: 'alice@example.com', password, code_challenge: challenge };
  const login = await ask(service, 'POST', '/auth/login', { body });
  const token = await redeem(service, login.body.code);
  const bearer = token.body.token as string;
  const headers = { authorization: `Bearer ${bearer}` };
  const file = { parent_id: 'folder-a', file_name: 'a.bin', file_size: 10 };
  const opened = await ask(service, 'POST', '/files/uploadsession', { headers, body: file });
  const { passport } = opened.body;
  const hash = 'a'.repeat(64);
  const presigned = await ask(service, 'POST', '/files/uploadsession/chunks', {
    headers: { ...headers, 'x-service-uploadsession': passport },
    body: { hashes: [hash] },
  });
  const chunk = new URL(presigned.body.chunks[hash].upload_url);
  const host = (url: string): string => new URL(url).host;
  return {
    host: { service: host(baseUrl), storage: host(storageUrl) },
    origin: page,
    bearer,
    passport,
    cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '',
    chunk: chunk.pathname + chunk.search,
  };
}

function usedBytes(): Promise<number> {
  child.send('memory');
  return once(child, 'message').then(([bytes]) => bytes as number);
}

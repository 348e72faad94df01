// Starts the sink (sink/main.mjs) in a separate process and controls it over IPC.
import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./sink/main.mjs', import.meta.url));

/**
 * Starts a sink with the profile's connection. Returns:
 * - `{service, storage}`: the two origins.
 * - `reset({keepMemory})`: starts a new run.
 * - `begin(part)`: counts concurrent requests as `part` (`before` or `after`) from then on.
 * - `counts()`: what the sink has received since `reset`.
 * - `stop()`: ends the sink.
 */
export async function startSink({ line, twice = false }) {
  const tls = line.http2 ? makeCertificate() : undefined;
  const child = fork(script, [JSON.stringify({ line, remember: twice, tls })]);
  const waiting = new Map();
  let lastId = 0;
  const { ready } = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the sink ended with ${code}`)));
  });
  child.on('message', ({ id, answer }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const ask = (call, options) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      child.send({ id: lastId, call, options });
    });
  return {
    ...ready,
    reset: (options) => ask('reset', options),
    begin: (part) => ask('begin', part),
    counts: () => ask('counts'),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.disconnect();
      }),
  };
}

/**
 * Creates a self-signed certificate, because browsers support HTTP/2 over TLS only. The browser has to ignore errors of
 * certificates. Returns the paths of its files.
 */
export function makeCertificate() {
  const folder = join(tmpdir(), 'secure-uploader-bench');
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  if (!existsSync(cert)) {
    mkdirSync(folder, { recursive: true });
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const args = [
      'req',
      '-x509',
      ...curve,
      '-nodes',
      '-days',
      '3650',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ];
    try {
      execFileSync('openssl', args, { stdio: 'ignore' });
    } catch (cause) {
      throw new Error('the profile h2 makes its certificate with openssl, which failed', { cause });
    }
  }
  return { key, cert };
}

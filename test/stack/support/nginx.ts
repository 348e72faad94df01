// nginx in front of processes of the example, with the configuration of docs/operating.md, and in front of a storage.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCertificate } from '../../bench/sink.mjs';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { freePort } from './ports.ts';

const document = fileURLToPath(new URL('../../../docs/operating.md', import.meta.url));

export interface RunningProxy {
  readonly baseUrl: string;
  /** Bytes of all requests so far, with their headers. */
  receivedBytes(): number;
  stop(): Promise<void>;
}

/** Starts nginx in front of two processes. Resolves when it accepts requests. */
export async function startNginx(processes: readonly { readonly baseUrl: string }[]): Promise<RunningProxy> {
  const port = await freePort();
  const [, server = ''] = /```nginx\n([\s\S]+?)```/.exec(readFileSync(document, 'utf8')) ?? [];
  const hosts = processes.map(({ baseUrl }) => new URL(baseUrl).host);
  const places = ['127.0.0.1:8081', '127.0.0.1:8082'];
  let http = server.replace('listen 8080', `listen 127.0.0.1:${port}`);
  for (const [index, place] of places.entries()) {
    assert.ok(http.includes(place), `docs/operating.md names ${place}`);
    http = http.replace(place, hosts[index] ?? '');
  }
  const baseUrl = `http://127.0.0.1:${port}`;
  const { log, stop } = await run(http, '$request_length', () =>
    fetch(`${baseUrl}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    baseUrl,
    receivedBytes: () => readLines(log).reduce((sum, line) => sum + Number(line), 0),
    stop,
  };
}

export interface StorageProxy {
  /** Returns the protocol, such as `HTTP/2.0`, the status and the length of the body of each PUT so far. */
  puts(): { protocol: string; status: number; sizeBytes: number }[];
  stop(): Promise<void>;
}

/**
 * Starts nginx with TLS at `port`, in front of the storage at `storagePort`. It answers larger bodies than 1 MiB with a 413 without
 * CORS headers, before it has read them. Resolves when it accepts connections.
 */
export async function startStorageProxy(
  port: number,
  storagePort: number,
  protocol: 'HTTP/2.0' | 'HTTP/1.1',
): Promise<StorageProxy> {
  const { cert, key } = makeCertificate();
  const server = `server {
  listen 127.0.0.1:${port} ssl${protocol === 'HTTP/2.0' ? ' http2' : ''};
  ssl_certificate ${cert}; ssl_certificate_key ${key};
  client_max_body_size 1m;
  location / { proxy_pass http://127.0.0.1:${storagePort}; proxy_set_header Host $http_host; }
}`;
  const { log, stop } = await run(server, '$request_method $server_protocol $status $content_length', () =>
    canConnect(port),
  );
  return {
    puts: () =>
      readLines(log)
        .map((line) => line.split(' '))
        .filter(([method]) => method === 'PUT')
        .map(([, protocol = '', status, length]) => ({
          ...{ protocol, status: Number(status), sizeBytes: Number(length) },
        })),
    stop,
  };
}

const readLines = (log: string): string[] => readFileSync(log, 'utf8').split('\n').filter(Boolean);

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

/** Starts nginx with the blocks `http`. Resolves with the path of its log, in `format`, when `isReady` resolves with true. */
async function run(
  http: string,
  format: string,
  isReady: () => Promise<boolean>,
): Promise<{ readonly log: string; stop(): Promise<void> }> {
  const folder = temporaryFolder();
  const log = join(folder, 'access.log');
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root; worker_processes 1;
events { worker_connections 4096; }
http { ${temp.join(' ')} log_format test '${format}'; access_log ${log} test; ${http} }`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const child = spawn('nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(() => {
    assert.ok(!isOver, 'nginx has ended');
    return isReady();
  });
  return {
    log,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

// nginx in front of processes of the example, with the configuration of docs/operating.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  const folder = temporaryFolder();
  const log = join(folder, 'access.log');
  const [, server = ''] = /```nginx\n([\s\S]+?)```/.exec(readFileSync(document, 'utf8')) ?? [];
  const hosts = processes.map(({ baseUrl }) => new URL(baseUrl).host);
  const places = ['127.0.0.1:8081', '127.0.0.1:8082'];
  let http = server.replace('listen 8080', `listen 127.0.0.1:${port}`);
  for (const [index, place] of places.entries()) {
    assert.ok(http.includes(place), `docs/operating.md names ${place}`);
    http = http.replace(place, hosts[index] ?? '');
  }
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root; worker_processes 1;
events { worker_connections 4096; }
http { ${temp.join(' ')} log_format bytes '$request_length'; access_log ${log} bytes; ${http} }`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const child = spawn('nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const baseUrl = `http://127.0.0.1:${port}`;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(() => {
    assert.ok(!isOver, 'nginx has ended');
    return fetch(`${baseUrl}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    baseUrl,
    receivedBytes: () =>
      readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .reduce((sum, line) => sum + Number(line), 0),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

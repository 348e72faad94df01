// Processes of the example with hooks of a test, on fixed ports, so that they can be killed and started again.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedExample } from '../../support/built.ts';
import { PAGE, RECEIPT_KEY } from '../../support/service-s3.ts';

/** A file that `onCompleted` reported, as written to the log of the hooks. */
export interface Report {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly key: string;
}

/** Each user has a token of the same name. Files named `*.exe` are refused. One report in five fails after it was written. */
const hooks = (log: string): string => `import { appendFileSync } from 'node:fs';
export const authorize = async (request, { folder }) => {
  const user = /^Bearer (user-\\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  if (!user) return 401;
  return folder === undefined || folder === 'folder-a' ? { user, freeBytes: 2 ** 40, maxFileBytes: 2 ** 36 } : 403;
};
export const onCompleted = async (file) => {
  appendFileSync(${JSON.stringify(log)}, JSON.stringify(file) + '\\n');
  if (Math.random() < Number(process.env.FAILING_REPORTS ?? 0.2)) throw new Error('the receiver was not there');
};
export const refuse = async ({ name }) => (name.endsWith('.exe') ? 'Programs are not accepted.' : undefined);`;

export interface Folder {
  readonly path: string;
  /** The reports so far, with all repetitions. */
  reports(): Report[];
}

function replace(path: string, before: string, after: string): void {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(before), before);
  writeFileSync(path, text.replace(before, after));
}

/** Returns a copy of the example with the hooks of the tests. */
export function exampleFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'service-s3-'));
  const log = join(path, 'reports');
  const source = installedExample();
  for (const name of readdirSync(source))
    (name === 'node_modules' ? symlinkSync : copyFileSync)(join(source, name), join(path, name));
  writeFileSync(join(path, 'hooks.ts'), hooks(log));
  // A tenth of the times, so that the work of a killed process is continued soon.
  replace(join(path, 'sessions.ts'), 'LEASE_MS = 30_000', 'LEASE_MS = 3000');
  replace(join(path, 'files.ts'), 'POLL_MS = 5000', 'POLL_MS = 500');
  writeFileSync(log, '');
  const reports = (): Report[] => {
    const lines = readFileSync(log, 'utf8').trim().split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Report);
  };
  return { path, reports };
}

export interface RunningProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** What it has written to standard output and standard error. */
  readonly output: string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Starts the example. Resolves when it accepts requests. */
export async function startProcess({ path }: Folder, settings: object): Promise<RunningProcess> {
  const env = {
    PATH: process.env.PATH,
    RECEIPT_KEY,
    PAGE_ORIGIN: PAGE,
    S3_ENFORCES: 'content-sha256',
    ...settings,
  };
  const args = ['--import', 'tsx', 'hono.ts'];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: path,
    env: { S3_BUCKET: 'uploads', ...env },
  });
  const ended = once(child, 'exit');
  let output = '';
  const baseUrl = await new Promise<string>((resolve, reject) => {
    const onText = (text: Buffer): void => {
      output += text;
      const [url] = /^http:\S+/m.exec(output) ?? [];
      if (url) resolve(url);
    };
    child.stdout?.on('data', onText);
    child.stderr?.on('data', onText);
    void ended.then(() => reject(new Error(`the example ended: ${output}`)));
  });
  return {
    baseUrl,
    pid: child.pid ?? 0,
    get output() {
      return output;
    },
    async kill(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

/** Runs a script of the example, and waits for its end. */
export async function runScript({ path }: Folder, name: string, settings: object): Promise<void> {
  const env = { PATH: process.env.PATH, PAGE_ORIGIN: PAGE, ...settings };
  const child = spawn(process.execPath, ['--import', 'tsx', name], { cwd: path, env, stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  assert.equal(status, 0);
}

// Runs demo/examples/service-s3 on a free port, as its own process.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedExample } from './built.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Origin of the page that the example allows. */
export const PAGE = 'http://localhost:5173';
export const RECEIPT_KEY = '0123456789abcdef0123456789abcdef';
export const TOKEN = 'a-token-of-32-characters-or-more-';

/** Settings of the example, with a store that can't be reached. */
export const SETTINGS = {
  S3_ENDPOINT: 'http://127.0.0.1:1',
  S3_REGION: 'us-east-1',
  S3_BUCKET: 'uploads',
  S3_ACCESS_KEY_ID: 'access-key',
  S3_SECRET_ACCESS_KEY: 'secret-key',
  S3_ENFORCES: 'content-sha256',
  PAGE_ORIGIN: PAGE,
  RECEIPT_KEY,
  DEMO_TOKEN: TOKEN,
  DEMO_FOLDER: 'folder-a',
  PORT: '0',
};

/** Starts the route handlers of Next without Next. */
const NEXT = `import { serve } from '@hono/node-server';
import * as methods from './next.ts';
serve({ fetch: (request) => methods[request.method](request), port: 0, hostname: '127.0.0.1' },
  ({ port }) => console.log('http://127.0.0.1:' + port));`;

/** Arguments for Node that start each variant. */
export const VARIANTS = {
  hono: ['hono.ts'],
  express: ['express.ts'],
  next: ['--input-type=module', '--eval', NEXT],
} as const;

export interface RunningExample {
  readonly baseUrl: string;
  readonly pid: number;
  /** All that the process has printed. */
  output(): string;
  /** Resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Hooks that have no `credentials` of their own take the keys of the settings. */
const CREDENTIALS = `
import { settings } from './settings.ts';
export const credentials = async (use) => (use === 'urls' && settings.store.chunkKeys) || settings.store.keys;
`;

/** Returns a copy of the example with other hooks. */
export function copyExample(hooks: string): string {
  const folder = temporaryFolder();
  const source = installedExample();
  for (const name of readdirSync(source))
    (name === 'node_modules' ? symlinkSync : copyFileSync)(join(source, name), join(folder, name));
  const isWhole = /\bcredentials\b/.test(hooks);
  writeFileSync(join(folder, 'hooks.ts'), isWhole ? hooks : `${hooks}${CREDENTIALS}`);
  return folder;
}

/** Runs Node in a folder with the example. */
export function runInExample(
  args: readonly string[],
  env: object = SETTINGS,
  cwd: string = installedExample(),
): ChildProcess {
  const options = { cwd, env: { PATH: process.env.PATH, ...env } };
  return spawn(process.execPath, ['--import', 'tsx', ...args], options);
}

/** Creates the bucket of the settings, with its rules. */
export async function createBucket(settings: object, folder?: string): Promise<void> {
  const [status] = await once(runInExample(['bucket.ts'], settings, folder), 'exit');
  if (status !== 0) throw new Error('the bucket could not be created');
}

/** Runs a script in the folder of the example. Resolves with the JSON that it prints. */
export async function print<T>(script: string, settings: object = {}, folder?: string): Promise<T> {
  const child = runInExample(['--input-type=module', '--eval', script], { ...SETTINGS, ...settings }, folder);
  let said = '';
  let errors = '';
  child.stdout?.on('data', (text) => (said += text));
  child.stderr?.on('data', (text) => (errors += text));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`the script ended with ${status}: ${errors}`);
  return JSON.parse(said) as T;
}

/** The receipt that the example gives for a chunk. */
export const receiptOf = (sessionId: string, hash: string): string =>
  createHmac('sha256', RECEIPT_KEY).update(`${sessionId}${hash}`).digest('hex');

/** Starts a variant. Rejects with its output if it ends instead. */
export async function startExample(
  variant: keyof typeof VARIANTS,
  settings: object = {},
  { folder = installedExample(), nodeArgs = [] as readonly string[] } = {},
): Promise<RunningExample> {
  const child = runInExample([...nodeArgs, ...VARIANTS[variant]], { ...SETTINGS, ...settings }, folder);
  const ended = once(child, 'close');
  let said = '';
  child.stderr?.on('data', (text) => (said += text));
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (text) => {
      said += text;
      const [url] = /http:[^\s"]+/.exec(String(text)) ?? [];
      if (url) resolve(url);
    });
    void ended.then(() => reject(new Error(`the example ended: ${said}`)));
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return { baseUrl, pid: child.pid ?? 0, output: () => said, stop };
}

// A copy of an example project: installs it with the packed package, builds it, and starts its servers.

import { type ChildProcess, spawn } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { npm } from './packed.ts';

const examples = fileURLToPath(new URL('../../demo/examples', import.meta.url));

/** The service, which has no page and does not depend on the package: test/server/service-s3.test.ts tests it. */
const SERVICE = 'service-s3';

/** Names of all example projects with a page. */
export async function exampleNames(): Promise<string[]> {
  const entries = await readdir(examples, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => name !== SERVICE);
}

/** A server of a project. */
export interface Running {
  readonly origin: string;
  stop(): Promise<void> | void;
}

export interface Example {
  readonly folder: string;
  /** Installs the dependencies. Uses npm's cache if possible. */
  install(): Promise<void>;
  /** Runs a script of `package.json` to its end. Rejects with its output if it failed. */
  run(script: string): Promise<void>;
  /** Starts the server of a script of `package.json`, and resolves when it responds. */
  start(script: string): Promise<Running>;
}

/** Copies the project `name` to `folder`. `replaced` has texts with their replacements in all files. */
export async function copyExample(
  name: string,
  folder: string,
  replaced: Readonly<Record<string, string>>,
): Promise<Example> {
  await cp(join(examples, name), folder, { recursive: true });
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    let text = await readFile(path, 'utf8');
    for (const [from, to] of Object.entries(replaced)) text = text.replaceAll(from, to);
    await writeFile(path, text);
  }
  return {
    folder,
    install: () =>
      finish(runNpm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock')),
    run: (script) => finish(runNpm(folder, 'run', script)),
    start: (script) => start(folder, script),
  };
}

/** Runs a tool of a package from the registry in `folder`. Rejects with its output if it failed. */
export const runTool = (folder: string, tool: string, ...args: string[]): Promise<void> =>
  finish(runNpm(folder, 'exec', '--yes', '--prefer-offline', `--package=${tool}`, '--', ...args));

interface Command {
  readonly child: ChildProcess;
  readonly line: string;
  /** The output so far. */
  output(): string;
}

function runNpm(cwd: string, ...args: string[]): Command {
  const [command, allArgs] = npm(...args);
  const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(command, allArgs, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1', NG_CLI_ANALYTICS: 'false' },
    detached: true, // Creates a process group, so that a server and its workers can be stopped together.
  });
  let output = '';
  const add = (data: Buffer): void => {
    output += data;
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return { child, line: `npm ${args.join(' ')}`, output: () => output };
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });

async function finish({ child, line, output }: Command): Promise<void> {
  const status = await ended(child);
  if (status !== 0) throw new Error(`${line}: status ${status}\n${output().slice(-4000)}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

const START_MS = 180_000;

async function start(folder: string, script: string): Promise<Running> {
  const port = await freePort();
  const command = runNpm(folder, 'run', script, '--', '--port', String(port));
  const isEnded = ended(command.child);
  const stop = async (): Promise<void> => {
    if (command.child.pid && command.child.exitCode === null) process.kill(-command.child.pid, 'SIGTERM');
    await isEnded;
  };
  const origin = `http://localhost:${port}`;
  const limit = AbortSignal.timeout(START_MS);
  while (!limit.aborted && command.child.exitCode === null) {
    const response = await fetch(origin, { signal: limit }).catch(() => undefined);
    if (response?.ok) return { origin, stop };
    await wait(200);
  }
  await stop();
  throw new Error(`${command.line}: no page\n${command.output().slice(-4000)}`);
}

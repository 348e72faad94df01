// Runs the commands of the project in a process, and `npm test` for projects that a test writes.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node in the folder of the project. */
export function node(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const { NODE_TEST_CONTEXT: _context, ...own } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, env: { ...own, ...env } }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** Runs `files` as the tests of the service, in the new folder `project`. Returns the status and the end of the output. */
export async function runAll(project: string, files: Record<string, string>, ...args: string[]) {
  await mkdir(join(project, 'test/server'), { recursive: true });
  await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
  for (const [file, text] of Object.entries(files))
    await writeFile(
      join(project, 'test/server', file),
      `import { describe, test } from 'node:test';\n${text}`,
    );
  const command = ['scripts/test.mjs', `--root=${project}`, '--only=server', ...args];
  const { status, stdout } = await node(command);
  const end = /\n(?:ok {2}|FAIL) The reference service: [\s\S]*$/.exec(stdout)?.[0] ?? stdout;
  const flakyFile = join(project, 'test-results/flaky.json');
  return {
    status,
    output: stdout,
    end: end
      .replace(/\(\d+\.\d s\)/, '(s)')
      .replace(/\n\nSlowest files [^:]*:(\n {2}.*)+/, '')
      .replace(/\n\nLeft out:(\n {2}.*)+/, '')
      .trim()
      .split('\n'),
    flaky: existsSync(flakyFile) ? JSON.parse(await readFile(flakyFile, 'utf8')) : undefined,
  };
}

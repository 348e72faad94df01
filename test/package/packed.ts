// Packs the built package as npm would publish it, and installs the result in an empty app.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtPackage } from '../support/built.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const exec = promisify(execFile);

/** The fields of `package.json` that the tests read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>> | null>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Item {
  readonly name: string;
  readonly description?: string;
  readonly type?: { readonly text: string };
}

/** An element in `custom-elements.json`. */
export interface Declaration {
  readonly tagName?: string;
  readonly attributes?: readonly Item[];
  readonly events?: readonly Item[];
}

/** An app with only the packed package installed. */
export interface PackedApp {
  readonly folder: string;
  /** Folder in which the package was built. */
  readonly builtIn: string;
  /** Folder of the unpacked package in the app. */
  readonly packageFolder: string;
  /** Path of the archive that npm packed. */
  readonly archive: string;
  /** Paths of all packed files, relative to the folder of the package. */
  readonly files: readonly string[];
  readonly manifest: Manifest;
  /** Runs Node in the app. Returns its output, or rejects if Node failed. */
  node(...args: string[]): Promise<string>;
  write(name: string, text: string): Promise<void>;
}

/** Returns the command and the arguments that run npm. */
export const npm = (...args: string[]): [string, string[]] => {
  const script = process.env.npm_execpath;
  return script?.endsWith('js') ? [process.execPath, [script, ...args]] : ['npm', args];
};

let shared: Promise<PackedApp> | undefined;

/** Returns the result of `packInto`, which is the same for all tests of a process. */
export function sharedApp(): Promise<PackedApp> {
  shared ??= packInto(temporaryFolder());
  return shared;
}

/** Returns all elements in `custom-elements.json`. */
export async function declarationsOf({ packageFolder }: PackedApp): Promise<readonly Declaration[]> {
  const { modules } = JSON.parse(await readFile(join(packageFolder, 'custom-elements.json'), 'utf8')) as {
    modules: { declarations?: Declaration[] }[];
  };
  return modules.flatMap((module) => module.declarations ?? []).filter(({ tagName }) => tagName);
}

/** Builds the package if a source has changed, packs it and unpacks it in a new app in `scratch`. Takes some seconds. */
export async function packInto(scratch: string): Promise<PackedApp> {
  const stage = join(scratch, 'stage');
  const folder = join(scratch, 'app');
  const packageFolder = join(folder, 'node_modules/secure-uploader');
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
  await mkdir(stage);
  await mkdir(packageFolder, { recursive: true });
  const built = builtPackage();
  for (const name of ['package.json', 'README.md', 'LICENSE', ...manifest.files]) {
    const from = existsSync(join(built.folder, name)) ? built.folder : root;
    if (existsSync(join(from, name))) await cp(join(from, name), join(stage, name), { recursive: true });
  }
  const { stdout } = await exec(...npm('pack', '--ignore-scripts', '--json', '--pack-destination', scratch), {
    cwd: stage,
    maxBuffer: 2 ** 24,
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  const archive = join(scratch, packed.filename);
  await exec('tar', ['-xzf', archive, '--strip-components=1', '-C', packageFolder]);
  for (const name of Object.keys(manifest.dependencies)) {
    await mkdir(join(folder, 'node_modules', name, '..'), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'app', private: true, type: 'module' }),
  );
  return {
    folder,
    builtIn: built.builtIn,
    packageFolder,
    archive,
    files: packed.files.map((file) => file.path).sort(),
    manifest,
    node: async (...args) => (await exec(process.execPath, args, { cwd: folder })).stdout,
    write: (name, text) => writeFile(join(folder, name), text),
  };
}

import type { BuildOptions, OutputFile } from 'esbuild';

export declare function bundle(
  root: string,
  entries: readonly string[],
  sources?: ReadonlyMap<string, string>,
  options?: BuildOptions,
): Promise<{
  readonly outputFiles: readonly OutputFile[];
  readonly scripts: ReadonlyMap<string, string>;
  readonly inputs: ReadonlyMap<string, ReadonlySet<string>>;
}>;

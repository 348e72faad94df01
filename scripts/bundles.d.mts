import type { BuildOptions } from 'esbuild';

export declare function bundle(
  root: string,
  entries: readonly string[],
  sources?: ReadonlyMap<string, string>,
  options?: BuildOptions,
): Promise<{
  readonly scripts: ReadonlyMap<string, string>;
  readonly inputs: ReadonlyMap<string, ReadonlySet<string>>;
}>;

// The size and the seeds of a run, for tests in pages (`scripts/scope.mjs` reads them from the environment).
export interface Scope {
  readonly isFullSize: boolean;
  readonly firstSeed: number;
  /** Value of `MODEL_SEED`. */
  readonly onlySeed?: number;
}

/** Returns the size and the seeds of this run. */
export async function readScope(): Promise<Scope> {
  return (await fetch('/test-scope.json')).json();
}

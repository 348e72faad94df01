// The size and the seeds of a run, for tests in pages. They come from the environment (`scripts/scope.mjs`).
interface Scope {
  readonly isFullSize: boolean;
  readonly firstSeed: number;
  /** Value of `MODEL_SEED`. */
  readonly onlySeed?: number;
}

export const { isFullSize, firstSeed, onlySeed }: Scope = await (await fetch('/test-scope.json')).json();

/** Returns parameters of fast-check: all runs at full size, otherwise a tenth, with the seed of this run. */
export const runs = (count: number): { readonly numRuns: number; readonly seed: number } => ({
  numRuns: isFullSize ? count : Math.ceil(count / 10),
  seed: firstSeed,
});

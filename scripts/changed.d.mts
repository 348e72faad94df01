// Types of `changed.mjs` for the tests, which are written in TypeScript.
export const LIMITS: readonly { readonly what: string; readonly most: number }[];
export function changedFiles(root: string): string[];
export function changedTests(
  root: string,
  changed?: readonly string[],
): {
  readonly tests: readonly string[];
  readonly examples: readonly string[];
  readonly left: readonly string[];
};

// Types of `scope.mjs` for the tests, which are written in TypeScript.
export const isFullRun: boolean;
export const LEFT_TO_CI: readonly {
  readonly suite: string;
  readonly what: string;
  readonly isOfEngines?: boolean;
  readonly files?: readonly string[];
}[];

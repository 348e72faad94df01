// Types of `scope.mjs` for the tests, which are written in TypeScript.
export const isFullSize: boolean;
export const firstSeed: number;
export interface Stage {
  readonly name: string;
  readonly suites?: readonly string[];
  readonly files?: readonly string[];
  readonly browsers?: string;
  readonly isAlone?: boolean;
  readonly script?: string;
}
export const STAGES: readonly Stage[];
export function isOfGate(file: string): boolean;
export function isOfStage(stage: Stage, file: string): boolean;

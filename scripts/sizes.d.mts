// Types of `sizes.mjs` for the tests, which are written in TypeScript.
/** Sizes by name of the part, in bytes. */
type Sizes = Readonly<Record<string, number>>;

export const GROWTH_HEADING: string;
export function growthRows(before: Sizes, after: Sizes, day: string, reason: string): string[];

// Types of `files.mjs` for the tests, which are written in TypeScript.
export function filesUnder(root: string, folders: readonly string[], pattern: RegExp): string[];

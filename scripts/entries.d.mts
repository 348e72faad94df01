/** Types of entries.mjs. */
export type Targets = string | { readonly types?: string; readonly default: string };
export function listEntries(folder: string): [entry: string, targets: Targets][];

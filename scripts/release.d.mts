export function missingForRelease(root: string): string[];

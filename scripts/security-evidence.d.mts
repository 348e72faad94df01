export function readPromises(): [title: string, rules: string[]][];
export function evidence(): string;

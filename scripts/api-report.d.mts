/** Returns the report on the public API as Markdown. `folder` is the folder of the built package. */
export function createApiReport(folder: string): string;

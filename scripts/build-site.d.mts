export const SITE: string;
export function buildSite(outDir?: string): Promise<unknown>;

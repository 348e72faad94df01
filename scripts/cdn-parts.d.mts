import type { Plugin, Rolldown } from 'vite';

/** Name of the first file of `dist/cdn`. */
export const FIRST_FILE: string;
export const workerCodes: Plugin;
export function workerCode(path: string): Promise<string>;
export function chunksOf(entry: string): Exclude<Rolldown.OutputOptions['codeSplitting'], undefined>;
export function cdnParts(banner: string): Plugin;

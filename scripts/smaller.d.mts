import type { Plugin } from 'vite';

export const inlined: Plugin;
export function smallStyles(code: string): string;
export function smallTemplates(code: string): string;

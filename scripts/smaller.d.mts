import type { Plugin } from 'vite';

export const inlined: Plugin;

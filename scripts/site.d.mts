import type { Plugin } from 'vite';

export const DOCUMENTS: readonly string[];
export const IMAGES: readonly string[];
export const PAGES: readonly string[];
export const site: Plugin;
export function documentPage(path: string, style: string, policy?: string): string;
export function fill(html: string, at: string): string;
export function pageOf(path: string): string;
export function render(path: string, at: string, only?: string): string;

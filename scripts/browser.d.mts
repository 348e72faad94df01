// Types of `browser.mjs` for the tests, which are written in TypeScript.
export function findChromium(): string | undefined;
export function findFirefox(): string | undefined;
export function findWebKit(): { driver: string; browser: string; display: string } | undefined;
export function provideChromium(root: string): string | undefined;
export function provideEngines(): string | undefined;
export const chromiumArgs: string[];
export const puppeteerArgs: string[];
export const unusedFeatures: string[];
export function disableFeatures(names: readonly string[]): string;
export function isSet(name: string): boolean;

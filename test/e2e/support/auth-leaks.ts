// Searches for secrets wherever a page, its browser and its requests could expose one, at any time and not only at the end.
// Independent of tests.
import assert from 'node:assert/strict';
import type { BrowserContext, Page } from 'playwright';
import { RECORD } from './auth-steps.ts';
import { observing } from './observe.ts';

/** A script that records, beside what `RECORD` does, each text and attribute that the document ever has, in shadow roots too. */
export const WATCH = `${RECORD} {
  const seen = new Set();
  globalThis.readSeen = () => [...seen];
  ${observing(`(records) => {
    for (const { target, attributeName, oldValue, addedNodes } of records) {
      seen.add(oldValue);
      seen.add(attributeName ? target.getAttribute(attributeName) : target.data);
      for (const node of addedNodes) seen.add(node.outerHTML ?? node.data);
    }
  }`)}
}`;

/** Console lines and requests of a browser since recording started. */
export interface Traces {
  /** On the console. */
  readonly lines: readonly string[];
  /** Of every request, of windows and frames too. */
  readonly addresses: readonly string[];
}

/** Records all pages of a browser, from now on. */
export function traceOf(context: BrowserContext): Traces {
  const lines: string[] = [];
  const addresses: string[] = [];
  context.on('console', (message) => lines.push(message.text()));
  context.on('request', (request) => addresses.push(request.url()));
  return { lines, addresses };
}

/** Everything that a page with `WATCH` shows, has shown, dispatches and stores, and its data on disk. */
export const shownBy = (page: Page): Promise<{ readonly shown: string; readonly disk: string }> =>
  page.evaluate(async () => {
    const { readSeen, events, tools } = globalThis as unknown as {
      readSeen(): string[];
      events?: unknown;
      tools?: { events: unknown; session: unknown };
    };
    const result = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const kept: unknown[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await result(indexedDB.open(name));
      for (const name of database.objectStoreNames) {
        const store = database.transaction(name).objectStore(name);
        kept.push(await result(store.getAllKeys()), await result(store.getAll()));
      }
      database.close();
    }
    const element = document.querySelector('secure-uploader');
    const shown = [
      readSeen(),
      document.documentElement.outerHTML,
      element?.shadowRoot?.innerHTML,
      [...document.querySelectorAll('input')].map((input) => input.value),
      element?.snapshot,
      events,
      tools?.events,
      tools?.session,
      String(tools?.session),
      Object.entries(localStorage),
      Object.entries(sessionStorage),
      document.cookie,
      location.href,
      history.state,
    ];
    return { shown: JSON.stringify(shown), disk: JSON.stringify(kept) };
  });

/** None of the texts has one of the secrets, which are listed by name. */
export function assertUnseen(
  texts: readonly string[],
  secrets: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [name, values] of Object.entries(secrets)) {
    assert.ok(values.length > 0 && values.every((value) => value.length > 4), `${name} is in the scan`);
    for (const value of values) {
      const [leak] = texts.filter((text) => text.includes(value));
      assert.equal(leak?.replaceAll(value, `<${name}>`).slice(0, 2000), undefined, `${name} is seen`);
    }
  }
}

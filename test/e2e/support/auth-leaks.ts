// Searches for secrets in everything that a page has shown, dispatched, stored, logged or requested since it was opened.
import assert from 'node:assert/strict';
import type { BrowserContext, Page } from 'playwright';
import { RECORD } from './auth-steps.ts';
import { observing } from './observe.ts';

/** Script that extends `RECORD`: it also records every text and attribute that the document or a shadow root ever has. */
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
  /** Lines on the console. */
  readonly lines: readonly string[];
  /** URLs of all requests, including requests of windows and frames. */
  readonly addresses: readonly string[];
}

/** Starts to record console lines and request URLs of all pages in `context`. */
export function traceOf(context: BrowserContext): Traces {
  const lines: string[] = [];
  const addresses: string[] = [];
  context.on('console', (message) => lines.push(message.text()));
  context.on('request', (request) => addresses.push(request.url()));
  return { lines, addresses };
}

/**
 * Returns everything that a page with `WATCH` exposes. `shown` has its current and former content, its events, its web storage, its
 * cookies and its URL. `disk` has the content of its databases.
 */
export const shownBy = (page: Page): Promise<{ readonly shown: string; readonly disk: string }> =>
  page.evaluate(async () => {
    const { readSeen, events, tools } = globalThis as unknown as {
      readSeen(): string[];
      events?: unknown;
      tools?: { session: unknown };
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

/** Asserts that no text contains one of the `secrets`. A failure shows the name of the secret instead of its value. */
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

// A browser tab for journeys in three engines: Chromium and Firefox with Playwright, WebKitGTK with WebDriver.
import { until } from '../../support/until.ts';
import { startWebKit } from '../../support/webkit-driver.mjs';
import { type Engine, startEngine } from './auth-browsers.ts';
import { newContext } from './browser.ts';

export type TabEngine = Engine | 'webkit';

const wanted = (process.env.BROWSERS || 'chromium').split(',');

/** Engines of this run: those in the environment variable `BROWSERS`. The default is Chromium. */
export const tabEngines: readonly TabEngine[] = (['chromium', 'firefox', 'webkit'] as const).filter(
  (engine) => wanted.includes(engine),
);

export interface Tab {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Goes back to the previous page, which the browser may restore from the back/forward cache. */
  back(): Promise<void>;
  /** Resolves with the value of the JavaScript `expression` in the page. */
  evaluate<T>(expression: string): Promise<T>;
  /** Chooses files in the uploader's file picker. */
  choose(...paths: string[]): Promise<void>;
  /** Goes to the next page of the history. */
  forward(): Promise<void>;
  /** In Chromium, freezes the page as the browser does with tabs in the background, or lets it continue. */
  freeze(isFrozen: boolean): Promise<void>;
  /** Opens a tab in the same browser. */
  newTab(): Promise<Tab>;
  /** Closes this tab. */
  close(): Promise<void>;
  /** Closes the browser. */
  end(): Promise<void>;
}

let waitCount = 0;

/** Evaluates `expression` until its value is true. It may use `await`; between two pages, there is nothing to evaluate it. */
export function untilTrue(tab: Tab, expression: string): Promise<true> {
  waitCount += 1;
  // An earlier wait on the same page has set its own variable.
  const variable = `globalThis.isTrue${waitCount}`;
  return until(
    async () => {
      await tab.evaluate(`void (async () => { ${variable} = ${expression}; })()`).catch(() => undefined);
      return tab.evaluate<boolean>(variable).catch(() => false);
    },
    () => expression,
  );
}

/** The files of the first uploader of a page. */
export const FILES = "(document.querySelector('secure-uploader')?.snapshot?.files ?? [])";

/** Starts a browser with an empty profile. Returns its first tab. */
export const startTab = (engine: TabEngine): Promise<Tab> =>
  engine === 'webkit' ? startWebKitTab() : startPlaywrightTab(engine);

async function startPlaywrightTab(engine: Engine): Promise<Tab> {
  // Playwright turns the back/forward cache of Chromium off.
  const browser = await startEngine(engine, { ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  const context = await newContext(browser);
  const newTab = async (): Promise<Tab> => {
    const page = await context.newPage();
    return {
      goto: async (url) => void (await page.goto(url)),
      reload: async () => void (await page.reload()),
      // `goBack()` waits for a navigation, which a page from the cache does not report.
      back: () => page.evaluate('void setTimeout(() => history.back())'),
      forward: () => page.evaluate('void setTimeout(() => history.forward())'),
      async freeze(isFrozen) {
        const session = await context.newCDPSession(page);
        await session.send('Page.setWebLifecycleState', { state: isFrozen ? 'frozen' : 'active' });
        await session.detach();
      },
      evaluate: (expression) => page.evaluate(expression),
      choose: (...paths) => page.setInputFiles('secure-uploader >> input[type=file]', paths),
      newTab,
      close: () => page.close(),
      end: () => browser.close(),
    };
  };
  return newTab();
}

/** Key under which WebDriver returns a reference to an element. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

async function startWebKitTab(): Promise<Tab> {
  const webkit = await startWebKit();
  const command = await webkit.openSession();
  const tabOf = (handle: string): Tab => {
    /** Selects this tab, then sends the command to it. */
    const send: typeof command = async (...args) => {
      await command('POST', '/window', { handle });
      return command(...args);
    };
    const execute = (script: string): Promise<unknown> => send('POST', '/execute/sync', { script, args: [] });
    return {
      goto: (url) => send('POST', '/url', { url }),
      reload: () => send('POST', '/refresh', {}),
      back: () => send('POST', '/back', {}),
      forward: () => send('POST', '/forward', {}),
      freeze: () => Promise.reject(new Error('only Chromium can do this')),
      evaluate: async <T>(expression: string) => (await execute(`return (${expression});`)) as T,
      async choose(...paths) {
        const input = await execute(
          "return document.querySelector('secure-uploader').shadowRoot.querySelector('input[type=file]');",
        );
        const { [ELEMENT]: id } = input as { readonly [ELEMENT]: string };
        await command('POST', `/element/${id}/value`, { text: paths.join('\n') });
      },
      newTab: async () => tabOf((await send('POST', '/window/new', { type: 'tab' })).handle),
      close: () => send('DELETE', '/window'),
      async end() {
        await command('DELETE', '').catch(() => undefined);
        webkit.end();
      },
    };
  };
  return tabOf(await command('GET', '/window'));
}

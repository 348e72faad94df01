// Opens pages that Playwright does not control, because Playwright keeps its own pages from being hidden or frozen. Commands go
// through the browser, which responds even while a page is frozen.
import type { Browser } from 'playwright';

export interface LonePage {
  /** Sends a command of the DevTools protocol. Resolves with the result of the command. */
  // biome-ignore lint/suspicious/noExplicitAny: a result is whatever the command says.
  send(method: string, params?: object): Promise<any>;
  /** Resolves with the value of the JavaScript `expression` in the page. */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until the page logs a line that starts with `word` on the console. Resolves with the rest of that line. */
  says(word: string): Promise<string>;
}

/** Opens a URL in a new browser context. `browser` must have been launched without a persistent profile. */
export async function openLonePage(browser: Browser, url: string): Promise<LonePage> {
  const session = await browser.newBrowserCDPSession();
  const { browserContextId } = await session.send('Target.createBrowserContext');
  const { targetId } = await session.send('Target.createTarget', { url, browserContextId });
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  const answers = new Map<number, (result: unknown) => void>();
  const said: string[] = [];
  const listeners = new Set<() => void>();
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, method, params, result } = JSON.parse(message);
    answers.get(id)?.(result);
    if (method !== 'Runtime.consoleAPICalled') return;
    said.push(params.args.map(({ value }: { value: unknown }) => value).join(' '));
    for (const listener of listeners) listener();
  });
  let count = 0;
  const send: LonePage['send'] = async (method, params = {}) => {
    const id = ++count;
    const answered = new Promise((resolve) => answers.set(id, resolve));
    await session.send('Target.sendMessageToTarget', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    });
    return answered;
  };
  await send('Runtime.enable');
  return {
    send,
    async evaluate(expression) {
      const given = { expression, awaitPromise: true, returnByValue: true };
      return (await send('Runtime.evaluate', given))?.result?.value;
    },
    says: (word) =>
      new Promise((resolve) => {
        const look = (): void => {
          const line = said.find((each) => each.startsWith(word));
          if (line === undefined) return;
          listeners.delete(look);
          resolve(line.slice(word.length + 1));
        };
        listeners.add(look);
        look();
      }),
  };
}

// A page that the test driver leaves alone: what that switches on in each page of its own keeps them from ever being hidden or
// frozen. It is spoken to through the browser, which answers also while the page itself cannot.
import type { Browser } from 'playwright';

export interface LonePage {
  /** Sends a command of the DevTools protocol, and answers its result. */
  // biome-ignore lint/suspicious/noExplicitAny: a result is whatever the command says.
  send(method: string, params?: object): Promise<any>;
  /** What the page's script `expression` comes to. */
  evaluate<T>(expression: string): Promise<T>;
  /** Resolves with what comes after this word, once the page has put it on the console. */
  says(word: string): Promise<string>;
}

/** Opens an address in a profile of its own. The browser must have been launched without one. */
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

// Starts the browsers of the sign-in journeys.
import { type Browser, chromium, firefox, type LaunchOptions } from 'playwright';
import { chromiumArgs, findChromium, findFirefox } from '../../../scripts/browser.mjs';

export type Engine = 'chromium' | 'firefox';

const wanted = (process.env.BROWSERS || 'chromium').split(',');

/** Browsers of this run: those in the environment variable `BROWSERS`. The default is Chromium. */
export const engines: readonly Engine[] = (['chromium', 'firefox'] as const).filter((engine) =>
  wanted.includes(engine),
);

/** Part of Playwright's internal Firefox browser that `startEngine` changes. */
interface Inner {
  _browserSession: { send(method: string, params: object): Promise<unknown> };
}

/** Starts a browser with an empty profile. */
export async function startEngine(engine: Engine, more: LaunchOptions = {}): Promise<Browser> {
  const executablePath = engine === 'chromium' ? findChromium() : findFirefox();
  if (engine === 'chromium') {
    return chromium.launch({ ...(executablePath && { executablePath }), args: chromiumArgs, ...more });
  }
  if (!executablePath) throw new Error('no Firefox found');
  // With this channel, Playwright drives a released Firefox by WebDriver BiDi. Other channels need a Firefox built for Playwright.
  const browser = await firefox.launch({ executablePath, channel: 'moz-firefox', ...more });
  // Playwright sets a color scheme for every context, with a command that no released Firefox supports yet. Skip the command.
  const { _connection: connection } = browser as unknown as { _connection: { toImpl(of: object): Inner } };
  const session = connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = (method, params) =>
    method === 'emulation.setMediaFeaturesOverride' ? Promise.resolve({}) : send(method, params);
  return browser;
}

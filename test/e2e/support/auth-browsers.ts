// The browsers of the sign-in journeys, all driven in the same way. Independent of pages and services.
import { type Browser, chromium, firefox, type LaunchOptions } from 'playwright';
import { chromiumArgs, findChromium, findFirefox, isSet } from '../../../scripts/browser.mjs';

export type Engine = 'chromium' | 'firefox';

const wanted = (process.env.BROWSERS || (isSet('CI') ? 'chromium,firefox' : 'chromium')).split(',');

/** Browsers of this run: Chromium, and Firefox if `BROWSERS` names it or CI is set. */
export const engines: readonly Engine[] = (['chromium', 'firefox'] as const).filter((engine) =>
  wanted.includes(engine),
);

/** The used part of the driver's own session with Firefox. */
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
  // Any Firefox, by WebDriver BiDi; without the channel, only a Firefox built for the driver.
  const browser = await firefox.launch({ executablePath, channel: 'moz-firefox', ...more });
  // A color scheme is set for every context, by a command that no released Firefox has yet.
  const { _connection: connection } = browser as unknown as { _connection: { toImpl(of: object): Inner } };
  const session = connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = (method, params) =>
    method === 'emulation.setMediaFeaturesOverride' ? Promise.resolve({}) : send(method, params);
  return browser;
}

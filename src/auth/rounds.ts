// The rounds by which a code is got and redeemed, loaded when a page has no token of its own. They know no states.

import type { Settings } from '../core/config.ts';
import type { Grant } from './machine-types.ts';
import { createTransaction, readAnswer } from './pkce.ts';
import { runFrame, runWindow } from './windows.ts';

export { redeem } from './exchange.ts';
export { createTransaction, readAnswer } from './pkce.ts';

/** Asks for a code in a hidden frame. Rejects with `sign-in-required` where a person is needed. */
export async function trySilent(
  settings: Settings,
  redirectUri: string,
  signal: AbortSignal,
): Promise<Grant> {
  const round = await createTransaction(settings, redirectUri, { prompt: 'none' });
  return readAnswer(settings, await runFrame(round, signal), round, 'silent');
}

/** Lets the person sign in in a window that is open already, and closes it when it has answered. */
export async function runPopup(
  popup: Window,
  settings: Settings,
  redirectUri: string,
  extra: Readonly<Record<string, string>>,
  options: Parameters<typeof runWindow>[2],
): Promise<Grant> {
  const round = await createTransaction(settings, redirectUri, extra);
  options.signal.throwIfAborted();
  const params = await runWindow(popup, round, options);
  popup.close();
  return readAnswer(settings, params, round, 'popup');
}

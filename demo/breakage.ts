// The panel that breaks things: the line, the connections, the service and the token.

import type { DemoConfig } from './account.ts';

type Network = Readonly<Record<string, number>>;

/**
 * Speeds of the line, as the site shows them. The first one is set at the start: at full speed, nothing can be seen on one machine.
 */
const LINES: readonly (readonly [name: string, network: Network])[] = [
  ['3 MB/s', { totalBytesPerSecond: 3_000_000, latencyMs: 30 }],
  ['300 kB/s', { totalBytesPerSecond: 300_000, latencyMs: 300 }],
  ['Full speed', {}],
];
const DOWN_MS = 8000;
const MINUTE_MS = 60_000;
/** Buttons that stay pressed. */
const TOGGLES = ['Go offline', 'Kill the service'];

/** Fills the panel, and starts with a working service. */
export async function startPanel(panel: HTMLElement, { baseUrl }: DemoConfig): Promise<void> {
  const send = async (url: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
  };
  const test = (path: string, body: object): Promise<void> => send(`${baseUrl}/_test/${path}`, body);
  let network = LINES[0]?.[1] ?? {};
  const setPower = async (isOn: boolean): Promise<void> => {
    await send('demo-config.json', { isOn });
    if (isOn) await test('network', network); // it may have changed meanwhile
  };
  const status = Object.assign(document.createElement('p'), { role: 'status' });
  const say = (text: string): void => {
    status.textContent = text;
  };
  let isOffline = false;
  /** Starts the killed service again. */
  let restart: (() => Promise<void>) | undefined;
  const onFault = (): void =>
    say(
      isOffline || restart
        ? 'No request arrives now.'
        : 'The service does not respond. Run “npm start” again.',
    );

  const lines = Object.assign(document.createElement('div'), {
    className: 'choices',
    role: 'group',
    ariaLabel: 'Speed of the line',
  });
  for (const [name, next] of LINES) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: name });
    button.ariaPressed = String(next === network);
    button.addEventListener('click', () => {
      network = next;
      for (const each of lines.children) each.ariaPressed = String(each === button);
      test('network', network).then(() => say(`The speed is now: ${name}.`), onFault);
    });
    lines.append(button);
  }

  const setOffline = async (next: boolean, button: HTMLElement): Promise<void> => {
    isOffline = next;
    button.ariaPressed = String(isOffline);
    // No page can switch off the network. The service is stopped, and the page believes to be offline.
    if (isOffline) Object.defineProperty(navigator, 'onLine', { get: () => false, configurable: true });
    else Reflect.deleteProperty(navigator, 'onLine');
    await setPower(!isOffline);
    dispatchEvent(new Event(isOffline ? 'offline' : 'online'));
    say(isOffline ? 'The page is offline, and no request arrives.' : 'The page is online again.');
  };

  /** What a button does, and what the panel says afterwards. */
  const actions: Readonly<Record<string, (button: HTMLButtonElement) => Promise<void>>> = {
    'Go offline': (button) => setOffline(!isOffline, button),
    'Cut connections': async () => {
      await setPower(false);
      await setPower(true);
      say('All connections were cut in the middle of their requests.');
    },
    'Kill the service': async (button) => {
      if (restart) return restart();
      restart = async () => {
        clearTimeout(timer);
        restart = undefined;
        button.ariaPressed = 'false';
        if (!isOffline) await setPower(true);
        say('The service is back.');
      };
      button.ariaPressed = 'true';
      await setPower(false);
      const timer = setTimeout(() => void restart?.().catch(onFault), DOWN_MS);
      say(`The service and its storage are down for ${DOWN_MS / 1000} s.`);
    },
    'Answer 429': async () => {
      const fault = { status: 429, headers: { 'retry-after': '3' } };
      await test('faults', { operation: 'put', times: 4, ...fault });
      await test('faults', { operation: 'chunks', ...fault });
      say('The next requests get 429 (too many requests): try again in 3 s.');
    },
    'Expire the token': async () => {
      await test('clock', { shiftMs: 16 * MINUTE_MS });
      say('16 minutes have passed for the service: the token and all presigned URLs have expired.');
    },
    'Reload the page': async () => location.reload(),
  };
  const buttons = Object.assign(document.createElement('div'), { className: 'buttons' });
  for (const [name, act] of Object.entries(actions)) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: name });
    if (TOGGLES.includes(name)) button.ariaPressed = 'false';
    button.addEventListener('click', () => act(button).catch(onFault));
    buttons.append(button);
  }
  panel.append(lines, buttons, status);
  panel.hidden = false;
  await setPower(true);
  await fetch(`${baseUrl}/_test/faults`, { method: 'DELETE' });
  await test('network', network); // the faults include it
}

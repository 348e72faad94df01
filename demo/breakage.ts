// The panel that breaks things: the line, the connections, the service and the token.

import type { SecureUploader } from 'secure-uploader';
import type { DemoConfig } from './account.ts';

/** Speeds of the line. The first one is set at the start: at full speed, nothing can be seen on one machine. */
const LINES: readonly (readonly [name: string, network: Readonly<Record<string, number>>])[] = [
  ['3 MB/s', { totalBytesPerSecond: 3_000_000, latencyMs: 30 }],
  ['300 kB/s', { totalBytesPerSecond: 300_000, latencyMs: 300 }],
  ['Full speed', {}],
];
const DOWN_MS = 8000;
/** The site starts the service again after this time, even if the page is gone. */
const MOST_DOWN_MS = 10_000;
const EXPIRY_MS = 16 * 60_000;

const create = <K extends keyof HTMLElementTagNameMap>(name: K, fields: object): HTMLElementTagNameMap[K] =>
  Object.assign(document.createElement(name), fields);

/** Fills the panel, and starts with a working service. `status` shows what happens. Rejects if the service has no test mode. */
export async function startPanel(
  element: SecureUploader,
  panel: HTMLElement,
  status: HTMLElement,
  { baseUrl }: DemoConfig,
): Promise<void> {
  const send = async (url: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
  };
  const test = (path: string, body: object): Promise<void> => send(`${baseUrl}/_test/${path}`, body);
  const stopFor = (downMs: number): Promise<void> => send('demo-config.json', { downMs });
  const say = (text: string): void => {
    status.textContent = text;
  };
  const onFault = (): void => say('The service does not respond. Run “npm start” again.');

  const isReload = performance
    .getEntriesByType('navigation')
    .some((entry) => (entry as PerformanceNavigationTiming).type === 'reload');
  /** Stored bytes when something was broken, until more are stored. */
  let brokenAt = isReload ? 0 : undefined;
  const sayBroken = (text: string): void => {
    brokenAt = element.snapshot.totals.storedBytes;
    say(text);
  };
  element.addEventListener('upload-progress', ({ detail: { phase } }) => {
    const { files, totals } = element.snapshot;
    const { storedBytes, sentBytes, sizeBytes } = totals;
    const isWaiting = phase !== 'uploading' || files.some(({ retryAtMs }) => retryAtMs);
    if (isWaiting || brokenAt === undefined || storedBytes <= brokenAt) return;
    brokenAt = undefined;
    say(`${status.textContent} The upload continues at ${Math.floor((100 * sentBytes) / sizeBytes)} %.`);
  });
  element.addEventListener('upload-completed', () => {
    if (element.snapshot.totals.openCount === 0) say('');
  });

  /** What is stopped now: the button that has stopped it, and the function that starts it again. */
  let outage: { readonly button: HTMLElement; readonly end: () => Promise<void> } | undefined;
  const stop = async (
    button: HTMLElement,
    ending: string,
    says: string,
    isOffline = false,
  ): Promise<void> => {
    const { textContent: name, className } = button;
    const setOnline = (isOnline: boolean): void => {
      if (!isOffline) return;
      // No page can switch off the network. The service is stopped, and the page believes to be offline.
      if (isOnline) Reflect.deleteProperty(navigator, 'onLine');
      else Object.defineProperty(navigator, 'onLine', { get: () => false, configurable: true });
      dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
    };
    const end = async (): Promise<void> => {
      clearTimeout(timer);
      await stopFor(0);
      outage = undefined;
      Object.assign(button, { textContent: name, className });
      setOnline(true);
      sayBroken(isOffline ? 'The page is online again.' : 'The service is back.');
    };
    const timer = setTimeout(() => void end().catch(onFault), DOWN_MS);
    outage = { button, end };
    Object.assign(button, { textContent: ending, className: 'main' });
    await stopFor(MOST_DOWN_MS);
    setOnline(false);
    say(`${says} for ${DOWN_MS / 1000} s, or until you press “${ending}”.`);
  };

  const actions: Readonly<Record<string, (button: HTMLElement) => Promise<void>>> = {
    'Go offline': (button) => stop(button, 'Go online', 'The page is offline, and no request arrives,', true),
    'Cut connections': async () => {
      await stopFor(1);
      sayBroken('All connections were cut in the middle of their requests.');
    },
    'Kill the service': (button) => stop(button, 'Start the service', 'The service and its storage are down'),
    'Too many requests': async () => {
      const fault = { status: 429, headers: { 'retry-after': '3' } };
      await test('faults', { operation: 'put', times: 4, ...fault });
      await test('faults', { operation: 'chunks', ...fault });
      sayBroken('The service refuses the next requests (429) for 3 s.');
    },
    'Expire the sign-in': async () => {
      await test('clock', { shiftMs: EXPIRY_MS });
      sayBroken('16 minutes have passed for the service: the token and all presigned URLs have expired.');
    },
    'Reload the page': async () => location.reload(),
  };

  const lines = create('div', { className: 'choices', role: 'group', ariaLabel: 'Speed of the line' });
  for (const [name, network] of LINES) {
    const button = create('button', { type: 'button', textContent: name });
    button.ariaPressed = String(name === LINES[0]?.[0]);
    button.addEventListener('click', async () => {
      if (outage) return say('No request arrives now. Choose the speed afterwards.');
      try {
        await test('network', network);
        for (const each of lines.children) each.ariaPressed = String(each === button);
        say(`The speed is now: ${name}.`);
      } catch {
        onFault();
      }
    });
    lines.append(button);
  }
  const buttons = create('div', { className: 'buttons' });
  for (const [name, act] of Object.entries(actions)) {
    const button = create('button', { type: 'button', textContent: name });
    button.addEventListener('click', async () => {
      const { openCount } = element.snapshot.totals;
      if (!outage && openCount === 0) return say('Upload something first.');
      if (outage && outage.button !== button)
        return say('No request arrives now. There is nothing more to break.');
      brokenAt = undefined;
      await (outage ? outage.end() : act(button)).catch(onFault);
    });
    buttons.append(button);
  }

  panel.append(create('p', { className: 'hint', textContent: 'Speed of the line' }), lines, buttons);
  panel.hidden = false;
  try {
    await stopFor(0);
    await fetch(`${baseUrl}/_test/faults`, { method: 'DELETE' });
    await test('network', LINES[0]?.[1] ?? {});
  } catch (error) {
    panel.hidden = true;
    throw error;
  }
}

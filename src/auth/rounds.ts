// Makes authorization requests in a window or a hidden frame. The callback page sends the response by `postMessage` and by
// `BroadcastChannel`. All other messages are ignored.

import { openChannel } from '../core/channel.ts';
import type { Settings } from '../core/config.ts';
import { abortable, sleep } from '../core/wait.ts';
import type { Grant } from './machine-types.ts';
import { createTransaction, isAnswer, readAnswer, type Transaction } from './pkce.ts';
import { record } from './post.ts';

/** Types of the messages between this page and the callback page. `callback.ts` has copies. */
const ANSWER = 'secure-uploader:answer';
const ACK = 'secure-uploader:ack';

/** Resolves with the first valid response to the authorization request with this `state`. */
function listen(state: string, source: () => Window | null, signal: AbortSignal): Promise<string> {
  const stop = new AbortController();
  const channel = openChannel(`secure-uploader:${state}`);
  const ack = { type: ACK, version: 1, state };
  const answer = new Promise<string>((resolve) => {
    const read = (data: unknown): boolean => {
      const { type, version, params } = record(data);
      if (type !== ANSWER || version !== 1 || !isAnswer(params, state)) return false;
      resolve(params);
      // The response may arrive by message and by channel. The callback page closes after either acknowledgment.
      channel?.postMessage(ack);
      return true;
    };
    const onMessage = ({ origin, source: sender, data }: MessageEvent): void => {
      const from = source();
      if (origin === location.origin && from && sender === from && read(data))
        from.postMessage(ack, location.origin);
    };
    window.addEventListener('message', onMessage, { signal: stop.signal });
    channel?.addEventListener('message', ({ data }) => read(data), { signal: stop.signal });
  });
  return abortable(answer, signal).finally(() => {
    stop.abort();
    channel?.close();
  });
}

export interface WindowOptions {
  readonly signal: AbortSignal;
  /** Called once, `graceMs` after `popup.closed` became true. With the header COOP, `closed` is true even if the window is open. */
  readonly onClosed: () => void;
  readonly pollMs: number;
  readonly graceMs: number;
}

export async function runPopup(
  popup: Window,
  settings: Settings,
  round: Transaction,
  { signal, onClosed, pollMs, graceMs }: WindowOptions,
): Promise<Grant> {
  const watching = new AbortController();
  const watch = async (): Promise<void> => {
    while (!popup.closed) await sleep(pollMs, watching.signal);
    await sleep(graceMs, watching.signal);
    onClosed();
  };
  const answer = listen(round.state, () => popup, signal);
  if (!popup.closed) popup.location.replace(round.url);
  watch().catch(() => undefined);
  try {
    return readAnswer(settings, await answer, round, 'popup');
  } finally {
    watching.abort();
  }
}

/** Makes an authorization request with `prompt=none` in a hidden frame. Rejects with `sign-in-required` if no user is signed in. */
export async function trySilent(
  settings: Settings,
  redirectUri: string,
  signal: AbortSignal,
): Promise<Grant> {
  const round = await createTransaction(settings, redirectUri, { prompt: 'none' });
  const frame = document.createElement('iframe');
  frame.style.display = 'none';
  frame.setAttribute('aria-hidden', 'true');
  // Lets the framed page send a response, but not navigate this page.
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  const answer = listen(round.state, () => frame.contentWindow, signal);
  frame.src = round.url;
  document.body.append(frame);
  try {
    return readAnswer(settings, await answer, round, 'silent');
  } finally {
    frame.remove();
  }
}

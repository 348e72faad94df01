// Where a sign-in page is shown: a window, a hidden frame. It waits for the callback page's answer, by message and by
// channel, and lets through only what is from there and meant for this round. It never reads a code.

import { openChannel } from '../core/channel.ts';
import { abortable, sleep } from '../core/wait.ts';
import { isAnswer } from './redirect.ts';

/** What the callback page sends, and what it is told back. `callback.ts` has the same words. */
const ANSWER = 'secure-uploader:answer';
const ACK = 'secure-uploader:ack';

type Message = Readonly<Record<string, unknown>>;

/** The first answer for the round `state` that passes all checks; everything else is ignored. */
function listen(state: string, source: () => Window | null, signal: AbortSignal): Promise<string> {
  const stop = new AbortController();
  const channel = openChannel(`secure-uploader:${state}`);
  const answer = new Promise<string>((resolve) => {
    const read = (data: unknown): boolean => {
      const message = (typeof data === 'object' && data !== null ? data : {}) as Message;
      if (message.type !== ANSWER || message.version !== 1 || !isAnswer(message.params, state)) return false;
      resolve(message.params);
      return true;
    };
    const ack = { type: ACK, version: 1, state };
    const onMessage = (event: MessageEvent): void => {
      const from = source();
      if (event.origin !== location.origin || !from || event.source !== from || !read(event.data)) return;
      from.postMessage(ack, location.origin);
      // Both routes may deliver, and the page waits for its word on either.
      channel?.postMessage(ack);
    };
    window.addEventListener('message', onMessage, { signal: stop.signal });
    channel?.addEventListener('message', ({ data }) => read(data) && channel.postMessage(ack), {
      signal: stop.signal,
    });
  });
  return abortable(answer, signal).finally(() => {
    stop.abort();
    channel?.close();
  });
}

/**
 * Goes to the sign-in page in a window that is open already, and waits for its answer. `onClosed` is told once, when the
 * window has read as closed for `graceMs`: a hint, since a page that severs the window makes it look just so.
 */
export async function runWindow(
  popup: Window,
  round: { readonly url: string; readonly state: string },
  options: {
    readonly signal: AbortSignal;
    readonly onClosed: () => void;
    readonly pollMs: number;
    readonly graceMs: number;
  },
): Promise<string> {
  const { signal, onClosed, pollMs, graceMs } = options;
  const watching = new AbortController();
  const watch = async (): Promise<void> => {
    while (!popup.closed) await sleep(pollMs, watching.signal);
    await sleep(graceMs, watching.signal);
    onClosed();
  };
  const stop = (): void => watching.abort();
  signal.addEventListener('abort', stop, { once: true });
  const answer = listen(round.state, () => popup, signal);
  if (!popup.closed) popup.location.replace(round.url);
  watch().catch(() => undefined);
  try {
    return await answer;
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
  }
}

/** Asks without a word to the person, in a hidden frame that is gone afterwards. */
export async function runFrame(
  round: { readonly url: string; readonly state: string },
  signal: AbortSignal,
): Promise<string> {
  const frame = document.createElement('iframe');
  frame.style.display = 'none';
  frame.setAttribute('aria-hidden', 'true');
  // A page in it may answer, but not take over the page around it.
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  const answer = listen(round.state, () => frame.contentWindow, signal);
  frame.src = round.url;
  document.body.append(frame);
  try {
    return await answer;
  } finally {
    frame.remove();
  }
}

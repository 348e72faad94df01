// Script of the callback page: sends the authorization response to the page that started the request. The script must not have
// imports.

const ANSWER = 'secure-uploader:answer';
const ACK = 'secure-uploader:ack';

const showMessage = (): void => {
  const message = document.getElementById('message');
  if (message) message.hidden = false;
};

const fragment = new URLSearchParams(location.hash.slice(1));
const params = (fragment.has('state') ? fragment : new URLSearchParams(location.search)).toString();
const state = new URLSearchParams(params).get('state') ?? '';
history.replaceState(null, '', location.pathname);

/**
 * Redirect mode: stores the response with its authorization request, and goes back to the page that was left. Returns false if no
 * request with this `state` and origin is stored.
 */
function goBack(): boolean {
  const key = `secure-uploader:redirect:${state}`;
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as { returnTo: string };
    const { href, origin } = new URL(stored.returnTo);
    if (origin !== location.origin) return false;
    // An element on this page (`page`) must not take the response, and no page later than a minute.
    const answer = { params, page: performance.timeOrigin, answeredAtMs: Date.now() };
    sessionStorage.setItem(key, JSON.stringify({ ...stored, ...answer }));
    // `location.replace` would not load a page whose URL differs only in the fragment.
    history.replaceState(null, '', href);
    location.reload();
    return true;
  } catch {
    return false;
  }
}

function handOver(): void {
  const answer = { type: ANSWER, version: 1, params };
  const channel = new BroadcastChannel(`secure-uploader:${state}`);
  const onAck = ({ data, origin }: MessageEvent): void => {
    if (origin === location.origin && data?.type === ACK && data.state === state) window.close();
  };
  channel.addEventListener('message', onAck);
  window.addEventListener('message', onAck);
  const asker: Window | null = window.parent === window ? window.opener : window.parent;
  asker?.postMessage(answer, location.origin);
  channel.postMessage(answer);
  setTimeout(showMessage, 1500);
}

// Redirect mode uses no frames. In Firefox, if a frame reads `sessionStorage`, the page may lose later writes.
if (!state) showMessage();
else if (window.parent !== window || !goBack()) handOver();

// Makes this file a module, so that its names are not global.
export {};

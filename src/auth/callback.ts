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
 * Returns the page to return to in redirect mode; `undefined` if no authorization request with this `state` and origin is stored.
 */
function pageThatWasLeft(): URL | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(`secure-uploader:redirect:${state}`) ?? 'null');
    const { returnTo } = stored as { returnTo: string };
    const url = new URL(returnTo);
    return url.origin === location.origin ? url : undefined;
  } catch {
    return undefined;
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

// A frame skips `pageThatWasLeft`, because redirect mode uses no frames. In Firefox, if a frame reads `sessionStorage`, the page
// may lose later writes.
const left = state && window.parent === window ? pageThatWasLeft() : undefined;
if (!state) showMessage();
else if (left)
  location.replace(`${left.origin}${left.pathname}${left.search}#secure-uploader-answer?${params}`);
else handOver();

// Makes this file a module, so that its names are not global.
export {};

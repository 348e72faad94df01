// The code that both hash workers share.

import type { createHashSlice } from './digest.ts';
import type { HashAnswer, HashProgress, HashRequest, Ready } from './hash-messages.ts';

/** Replies to each `HashRequest` with a `HashAnswer`, and with `HashProgress` while it reads. */
export function answerRequests(hashSlice: ReturnType<typeof createHashSlice>): void {
  const scope = globalThis as unknown as {
    onmessage: ((event: MessageEvent<HashRequest>) => void) | null;
    postMessage: (message: HashAnswer | HashProgress | Ready) => void;
  };
  scope.onmessage = ({ data }) => {
    const { id } = data;
    const onRead = (): void => scope.postMessage({ id, isReading: true });
    void hashSlice(data, onRead).then((found) => scope.postMessage({ id, ...found }));
  };
  scope.postMessage('ready');
}

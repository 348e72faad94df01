// The code that both hash workers share.

import type { createHashSlice } from './digest.ts';
import type { HashAnswer, HashRequest, Ready } from './hash-pool.ts';

/**
 * Replies to each `HashRequest` with a `HashAnswer`.
 *
 * Must not refer to anything outside this function: `worker-source.ts` runs its text in a worker.
 */
export function answerRequests(hashSlice: ReturnType<typeof createHashSlice>): void {
  const scope = globalThis as unknown as {
    onmessage: ((event: MessageEvent<HashRequest>) => void) | null;
    postMessage: (message: HashAnswer | Ready) => void;
  };
  scope.onmessage = ({ data }) => {
    void hashSlice(data).then((found) => scope.postMessage({ id: data.id, ...found }));
  };
  scope.postMessage('ready');
}

// The hash worker. Replies to each `HashRequest` with a `HashAnswer`.

import { hashSlice } from './digest.ts';
import type { HashAnswer, HashRequest, Ready } from './hash-pool.ts';

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<HashRequest>) => void) | null;
  postMessage: (message: HashAnswer | Ready) => void;
};
scope.onmessage = ({ data }) => {
  void hashSlice(data).then((found) => scope.postMessage({ id: data.id, ...found }));
};
scope.postMessage('ready');

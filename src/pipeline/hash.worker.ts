// Runs in a worker: reads a slice, hashes it, and hands the bytes back as a Blob where asked. It knows no file and no wire.

import { digest, readWhole } from './digest.ts';
import type { HashAnswer, HashRequest, Ready } from './hash-pool.ts';

async function answer({ id, slice, algorithm, keepBytes }: HashRequest): Promise<HashAnswer> {
  let isRead = true;
  try {
    const bytes = await readWhole(slice);
    isRead = false;
    const hash = await digest(bytes, algorithm);
    return keepBytes ? { id, hash, body: new Blob([bytes]) } : { id, hash };
  } catch (error) {
    const { name, message } =
      error instanceof Error || error instanceof DOMException
        ? error
        : { name: 'Error', message: String(error) };
    return { id, error: { name, message, isRead } };
  }
}

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<HashRequest>) => void) | null;
  postMessage: (message: HashAnswer | Ready) => void;
};
scope.onmessage = ({ data }) => {
  void answer(data).then((found) => scope.postMessage(found));
};
scope.postMessage('ready');

// The worker for photos: one task at a time.

import { type PhotoTask, runTask, type TaskResult } from './photo-tasks.ts';

/** The response to a task. Before it, `read` says that an image has been read. */
export type TaskAnswer = { readonly result: TaskResult } | { readonly error: string };

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<PhotoTask>) => void) | null;
  postMessage: (message: TaskAnswer | 'ready' | 'read', moved?: Transferable[]) => void;
};

scope.onmessage = ({ data }) => {
  runTask(data, () => scope.postMessage('read')).then(
    (result) => scope.postMessage({ result }, result instanceof ImageBitmap ? [result] : []),
    (error) => scope.postMessage({ error: String(error) }),
  );
};
scope.postMessage('ready');

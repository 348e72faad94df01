import { warnOnceHere } from './warn.ts';

type Texts = typeof import('./explanations.ts');

/** One promise for all messages, so that they keep their order. */
let loading: Promise<Texts | undefined> | undefined;

/**
 * Writes a message that needs `explanations.ts`, which is loaded on demand. `message` gets `undefined` if it could not be loaded,
 * as without a network.
 */
export function explain(message: (texts?: Texts) => string, warn = warnOnceHere): void {
  loading ??= import('./explanations.ts').catch(() => {
    loading = undefined;
    return undefined;
  });
  void loading.then((texts) => warn(message(texts)));
}

import { warnOnceHere } from './warn.ts';

type Texts = typeof import('./explanations.ts');

/** One promise for all messages, so that they keep their order. */
let loading: Promise<Texts | undefined> | undefined;

/** Loads `explanations.ts`. Resolves with `undefined` if it could not be loaded, as without a network. */
export function loadTexts(): Promise<Texts | undefined> {
  loading ??= import('./explanations.ts').catch(() => {
    loading = undefined;
    return undefined;
  });
  return loading;
}

/** Writes a message that needs `explanations.ts`. `message` gets `undefined` if it could not be loaded. */
export const explain = (message: (texts?: Texts) => string, warn = warnOnceHere): void =>
  void loadTexts().then((texts) => warn(message(texts)));

// Number of listeners that are left on a target.

/** Counts the listeners that are added to `target` from now on and were not removed. */
export function listenersOf<T extends EventTarget>(target: T): { readonly signal: T; count(): number } {
  type Listener = readonly [type: string, listener: unknown, ...options: unknown[]];
  const listeners: Listener[] = [];
  const drop = (dropped: Listener): void => {
    const at = listeners.findIndex(([type, listener]) => type === dropped[0] && listener === dropped[1]);
    if (at >= 0) listeners.splice(at, 1);
  };
  const add = target.addEventListener.bind(target);
  const remove = target.removeEventListener.bind(target);
  target.addEventListener = ((...given: Parameters<typeof add>) => {
    const listener = [given[0], given[1]] as const;
    listeners.push(listener);
    add(...given);
    const signal = typeof given[2] === 'object' ? given[2].signal : undefined;
    signal?.addEventListener('abort', () => drop(listener));
  }) as typeof add;
  target.removeEventListener = ((...given: Parameters<typeof remove>) => {
    drop(given);
    remove(...given);
  }) as typeof remove;
  return { signal: target, count: () => listeners.length };
}

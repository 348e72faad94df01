// Number of listeners that are left on a target.

/** Counts the listeners that are added to `target` from now on and were not removed. */
export function listenersOf<T extends EventTarget>(target: T): { readonly signal: T; count(): number } {
  const listeners: (readonly [type: string, listener: unknown])[] = [];
  const add = target.addEventListener.bind(target);
  const remove = target.removeEventListener.bind(target);
  target.addEventListener = ((...given: Parameters<typeof add>) => {
    listeners.push([given[0], given[1]]);
    add(...given);
  }) as typeof add;
  target.removeEventListener = ((...given: Parameters<typeof remove>) => {
    const at = listeners.findIndex(([type, listener]) => type === given[0] && listener === given[1]);
    if (at >= 0) listeners.splice(at, 1);
    remove(...given);
  }) as typeof remove;
  return { signal: target, count: () => listeners.length };
}

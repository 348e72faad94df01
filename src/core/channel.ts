// A channel to the other tabs of this origin.

/** Returns `undefined` if the browser has no channels, or refuses them (Firefox with blocked cookies throws). */
export function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}

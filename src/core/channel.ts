// A way to the other tabs of this origin. It knows nothing of what is said.

/** A channel; `undefined` where the browser has none, or refuses it (Firefox with cookies blocked throws). */
export function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}

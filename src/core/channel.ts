// A channel to the other tabs of this origin.

/**
 * Opens a `BroadcastChannel`. Returns `undefined` if the browser does not support or allow it (Firefox throws if cookies are
 * blocked).
 */
export function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}

// Custom states of the host (`:state(uploading)`), for engines that have them; in others they are simply never set.

/** Adds or takes away one state. */
export function showState(internals: ElementInternals, name: string, isOn: boolean): void {
  try {
    if (isOn) internals.states.add(name);
    else internals.states.delete(name);
  } catch {
    // An engine without `states`, or with the older rule that a name begins with two dashes.
  }
}

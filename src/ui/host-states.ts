/** Sets or clears a custom state (`:state(uploading)`), if the browser supports it. */
export function showState(internals: ElementInternals, name: string, isOn: boolean): void {
  try {
    if (isOn) internals.states.add(name);
    else internals.states.delete(name);
  } catch {
    // The browser does not support `states`, or supports only the older syntax with two dashes.
  }
}

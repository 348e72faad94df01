// Holds requests at the service until a test releases them, so that events in the middle of an upload happen there, however slow
// the machine is.

/** The value of a fault's `waitFor`, until `open` is called. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

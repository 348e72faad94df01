// Holds requests at the service until a test lets them go on, so that what has to happen in the middle of an upload does happen
// there, however slow the machine is.

/** Something to wait for, as a fault's `waitFor`, until `open` is called. */
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

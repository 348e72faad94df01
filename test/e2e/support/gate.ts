// Holds requests at the service until a test releases them.

/** Gate for held requests. The field `waitFor` of a fault is set to `opened`. A call of `open` releases the requests. */
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

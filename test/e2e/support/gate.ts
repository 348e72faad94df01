// Holds requests at the service until a test releases them.

/** Promise `opened` for the field `waitFor` of a fault; `open` resolves the promise and so releases the requests. */
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

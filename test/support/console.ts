// Warnings on the console during a test.

/** Calls `act` with a growing array of the warnings on the console, each as one string. */
export async function captureWarnings(act: (warnings: readonly string[]) => unknown): Promise<void> {
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (...args: unknown[]) => warnings.push(args.join(' ').trim());
  try {
    await act(warnings);
  } finally {
    console.warn = warn;
  }
}

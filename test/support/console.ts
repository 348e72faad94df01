// Warnings on the console during a test.

/** Runs `act` with an array that receives the warnings on the console meanwhile, each as one text. */
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

// Warnings on the console during a test.

/** Runs `act` with an array that receives the warnings on the console meanwhile, each as one text. */
export async function hearing(act: (told: readonly string[]) => unknown): Promise<void> {
  const told: string[] = [];
  const { warn } = console;
  console.warn = (...args: unknown[]) => told.push(args.join(' ').trim());
  try {
    await act(told);
  } finally {
    console.warn = warn;
  }
}

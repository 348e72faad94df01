// What a page's author reads on the console while a test runs.

/** Runs `act` with all that the console is warned of meanwhile, each as one text. */
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

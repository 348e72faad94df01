// What a page requests while a test works.

/** Returns everything that the page fetches or runs as a worker during `work`. */
export async function requestedBy(work: () => Promise<unknown>): Promise<string[]> {
  const { fetch, Worker } = globalThis;
  const requested: string[] = [];
  globalThis.fetch = (input, init) => {
    requested.push(`fetch ${String(input)}`);
    return fetch(input, init);
  };
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      requested.push(`worker ${String(url)}`);
      super(url, options);
    }
  };
  try {
    await work();
  } finally {
    Object.assign(globalThis, { fetch, Worker });
  }
  return requested;
}

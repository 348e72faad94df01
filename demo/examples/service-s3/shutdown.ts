// Ends slow requests, and ends the process on SIGTERM and SIGINT: finishes the running requests and commits first.
/** Node waits five minutes for a request. The longest is a commit of 1.4 MB. */
export const PATIENCE = { requestTimeout: 30_000, connectionsCheckingInterval: 5000 };
/** After this time, the process ends anyway. Another process continues its commits when their leases end. */
const LONGEST_MS = 30_000;

export function endWith(
  server: { close(done: () => void): unknown },
  close: (requests: Promise<unknown>) => Promise<void>,
): void {
  const end = () => {
    setTimeout(() => process.exit(1), LONGEST_MS).unref();
    const requests = new Promise<void>((resolve) => server.close(resolve));
    void close(requests)
      .catch(() => 1)
      .then((code) => process.exit(code || 0));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
}

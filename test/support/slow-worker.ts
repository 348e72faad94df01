// A hash worker that does not answer for large slices, as if the bytes of their files did not arrive.

/**
 * Returns settings with this worker. It answers at once for slices of up to `sizeBytes`, and for all others after a message on the
 * channel `gate`.
 */
export const slowWorker = (
  gate: string = crypto.randomUUID(),
  sizeBytes = 100,
): { readonly workerUrl: string } => ({
  workerUrl: `/test-script.js?text=${encodeURIComponent(`
    const channel = new BroadcastChannel('${gate}');
    const opened = new Promise((resolve) => {
      channel.onmessage = resolve;
    });
    onmessage = async ({ data: { id, slice } }) => {
      if (slice.size > ${sizeBytes}) await opened;
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await slice.arrayBuffer()));
      postMessage({ id, hash: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('') });
    };
    postMessage('ready');`)}`,
});

// A hash worker that does not answer for slices of more than 100 bytes, as if the bytes of their files did not arrive.

/** Returns settings with this worker. It answers for all slices after a message on the channel `gate`. */
export const slowWorker = (gate: string = crypto.randomUUID()): { readonly workerUrl: string } => ({
  workerUrl: `/test-script.js?text=${encodeURIComponent(`
    const channel = new BroadcastChannel('${gate}');
    const opened = new Promise((resolve) => {
      channel.onmessage = resolve;
    });
    onmessage = async ({ data: { id, slice } }) => {
      if (slice.size > 100) await opened;
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await slice.arrayBuffer()));
      postMessage({ id, hash: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('') });
    };
    postMessage('ready');`)}`,
});

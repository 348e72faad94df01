// Hash workers that do not answer for some slices, as if the bytes of their files did not arrive.

const workerOf = (text: string): { readonly workerUrl: string } => ({
  workerUrl: `/test-script.js?text=${encodeURIComponent(text)}`,
});

/**
 * Returns settings with a worker that answers at once for slices of up to `sizeBytes`, and for all others after a message on the
 * channel `gate`.
 */
export const slowWorker = (
  gate: string = crypto.randomUUID(),
  sizeBytes = 100,
): { readonly workerUrl: string } =>
  workerOf(`
    const channel = new BroadcastChannel('${gate}');
    const opened = new Promise((resolve) => {
      channel.onmessage = resolve;
    });
    onmessage = async ({ data: { id, slice } }) => {
      if (slice.size > ${sizeBytes}) await opened;
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await slice.arrayBuffer()));
      postMessage({ id, hash: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('') });
    };
    postMessage('ready');`);

/** Type of the slices of a file on the drive. */
const ON_DRIVE = 'test/drive';

/** A drive whose bytes arrive only while it is not away, for files of its `worker`. */
export class SlowDrive {
  readonly #gate = crypto.randomUUID();
  readonly #channel = new BroadcastChannel(this.#gate);
  #isAway = false;

  constructor() {
    this.#channel.onmessage = ({ data }) => {
      if (data === 'asked' && !this.#isAway) this.#channel.postMessage('arrived');
    };
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  set isAway(isAway: boolean) {
    this.#isAway = isAway;
    if (!isAway) this.#channel.postMessage('arrived');
  }

  /** Settings with the default worker, which gets the slices of files on the drive only when their bytes arrive. */
  get worker(): { readonly workerUrl: string } {
    return workerOf(`
      import '/src/pipeline/hash.worker.ts';
      const hash = onmessage;
      const channel = new BroadcastChannel('${this.#gate}');
      let waiting = [];
      channel.onmessage = ({ data }) => {
        if (data === 'arrived') for (const event of waiting.splice(0)) hash(event);
      };
      onmessage = (event) => {
        if (event.data.slice.type !== '${ON_DRIVE}') return hash(event);
        waiting.push(event);
        channel.postMessage('asked');
      };`);
  }

  /** Returns a slice of a file on the drive. */
  slice(file: File, start?: number, end?: number): Blob {
    return file.slice(start, end, ON_DRIVE);
  }

  close(): void {
    this.#channel.close();
  }
}

// Hash workers that do not answer for some slices, as if the bytes of their files did not arrive.

const workerOf = (text: string): { readonly workerUrl: string } => ({
  workerUrl: `/test-script.js?text=${encodeURIComponent(text)}`,
});

interface Gate {
  /** Lets all slices pass, also those for workers that start later. */
  open(): void;
}

/** Returns a worker that answers at once for slices of up to `sizeBytes`, and for all others once its gate is open. */
export function gatedWorker(sizeBytes = 100): { readonly workerUrl: string; readonly gate: Gate } {
  const channel = new BroadcastChannel(crypto.randomUUID());
  const open = (): void => {
    channel.onmessage = () => channel.postMessage('opened');
    channel.postMessage('opened');
  };
  const { workerUrl } = workerOf(`
    const channel = new BroadcastChannel('${channel.name}');
    const opened = new Promise((resolve) => {
      channel.onmessage = ({ data }) => {
        if (data === 'opened') resolve();
      };
    });
    onmessage = async ({ data: { id, slice } }) => {
      if (slice.size > ${sizeBytes}) {
        channel.postMessage('asked');
        await opened;
      }
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await slice.arrayBuffer()));
      postMessage({ id, hash: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('') });
    };
    postMessage('ready');`);
  return { workerUrl, gate: { open } };
}

/** Returns settings with a worker that answers for slices of up to 100 bytes, and never for all others. */
export const slowWorker = (): { readonly workerUrl: string } => ({ workerUrl: gatedWorker().workerUrl });

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

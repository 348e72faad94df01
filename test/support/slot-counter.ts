// Upload slots for tests of stages: granted in order of request. Records the maximum number in use.

import type { Host } from '../../src/core/host.ts';
import type { UploadSlot } from '../../src/pipeline/upload.ts';

export class SlotCounter {
  taken = 0;
  mostTaken = 0;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  readonly acquire = (_host: Host, signal: AbortSignal): Promise<UploadSlot> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', onAbort);
        this.taken += 1;
        this.mostTaken = Math.max(this.mostTaken, this.taken);
        let isTaken = true;
        resolve({
          onSent: () => undefined,
          onStored: () => undefined,
          release: () => {
            if (!isTaken) return;
            isTaken = false;
            this.taken -= 1;
            this.#fill();
          },
        });
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.push(enter);
      this.#fill();
    });

  #fill(): void {
    if (this.taken < this.#most) this.#waiting.shift()?.();
  }
}

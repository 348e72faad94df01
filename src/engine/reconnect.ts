// Moves uploads that wait for a first token to the current sign-in settings.

import { backoffMs } from '../core/retries.ts';
import { inSlices } from '../core/wait.ts';
import type { Connection, Connections } from './connection.ts';
import type { Scheduler } from './scheduler.ts';
import type { Upload } from './upload.ts';

/** Delays between moves, for pages that set another `getToken` whenever one fails: each is called three times in five seconds. */
const DELAYS = { baseMs: 5_000, capMs: 60_000 };

export class Reconnect {
  readonly #connections: Connections;
  readonly #scheduler: Scheduler;
  readonly #onMoved: () => void;
  #moves = 0;
  #nextAtMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onMoved` is called after uploads have left their services. */
  constructor(connections: Connections, scheduler: Scheduler, onMoved: () => void) {
    this.#connections = connections;
    this.#scheduler = scheduler;
    this.#onMoved = onMoved;
  }

  /** Moves the uploads that wait for a service that the current one replaces, now or after a delay. Resolves after the move. */
  async run(): Promise<void> {
    clearTimeout(this.#timer);
    const { service } = this.#connections.current;
    const isLeft = ({ connection, hadToken }: Upload): boolean =>
      !hadToken && connection.service.isReplacedBy(service);
    const uploads = this.#scheduler.all.filter(isLeft);
    if (uploads.length === 0) return;
    const nowMs = performance.now();
    if (nowMs < this.#nextAtMs && !service.isReady) {
      this.#timer = setTimeout(() => this.run(), this.#nextAtMs - nowMs);
      return;
    }
    this.#nextAtMs = nowMs + backoffMs(this.#moves++, DELAYS);
    const successors = new Map<Connection, Connection>();
    await inSlices(uploads, (upload) => {
      // The settings may change again during the move.
      if (service !== this.#connections.current.service || !isLeft(upload)) return;
      const { connection } = upload;
      const successor = successors.get(connection) ?? this.#connections.withCurrentSignIn(connection);
      successors.set(connection, successor);
      upload.connection = successor;
      upload.dispatch({ type: 'reconnect' });
    });
    this.#onMoved();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

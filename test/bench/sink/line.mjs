// The simulated connection between browser and sink: its rate, the latency of requests, what is cut and what is refused.
// Independent of protocols. Without limits it costs nothing.
import { setTimeout as pause } from 'node:timers/promises';

// Timers are coarse: a shorter wait is skipped, and a late one may be compensated within the second value.
const GRAIN_MS = 4;
const CATCH_UP_MS = 40;
/** A refusal comes after the body, so a large body is never refused: real services would not read it first. */
const REFUSED_BODY_BYTES = 16 * 2 ** 20;

/** The body did not arrive completely: the browser aborted it, or the connection was cut. */
export class Gone extends Error {}

/** One direction of a connection with this many bytes a second; without a number it is unlimited. */
class Lane {
  #bytesPerSecond;
  #freeAt = 0;
  #bodies = 0;

  constructor(bytesPerSecond) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  get bodies() {
    return this.#bodies;
  }

  open() {
    // An idle connection does not accumulate unused capacity.
    if (this.#bodies === 0) this.#freeAt = Math.max(this.#freeAt, performance.now());
    this.#bodies += 1;
  }

  close() {
    this.#bodies -= 1;
  }

  /** Milliseconds until these bytes are transferred. */
  carry(bytes) {
    if (!this.#bytesPerSecond) return 0;
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now - CATCH_UP_MS) + (bytes / this.#bytesPerSecond) * 1000;
    return this.#freeAt - now;
  }
}

/** A connection as defined in profiles.mjs. `counts` counts cuts and refusals. */
export class Line {
  #shape;
  #counts;
  #shared;
  #own = new WeakMap();
  #cutAt;
  #received = 0;
  #part;
  #countedAt;
  #asked = 0;
  // The same sequence in every run: the faults are the same for each client.
  #seed = 1;

  constructor(shape, counts) {
    this.#shape = shape;
    this.#counts = counts;
    this.#shared = new Lane(shape.totalBytesPerSecond);
    this.#cutAt = this.#nextCut();
  }

  /** From now on concurrent requests are counted as `before` or `after`. */
  begin(part) {
    this.#part = part;
  }

  /** How many bodies arrived at once, averaged over the times of their pieces. */
  #countLanes() {
    const now = performance.now();
    const lanes = this.#counts.lanes[this.#part];
    const elapsed = now - (this.#countedAt ?? now);
    this.#countedAt = now;
    lanes.ms += elapsed;
    lanes.sum += elapsed * this.#shared.bodies;
  }

  /** The latency of every request. */
  latency() {
    return this.#shape.latencyMs ? pause(this.#shape.latencyMs) : undefined;
  }

  /** Whether this request, once received, gets a 429. */
  refuses(request) {
    if (!this.#shape.refuseEvery || Number(request.headers['content-length'] ?? 0) > REFUSED_BODY_BYTES)
      return false;
    this.#asked += 1;
    if (this.#asked % this.#shape.refuseEvery !== 0) return false;
    this.#counts.refusals += 1;
    return true;
  }

  /** Reads a body at the connection's rate; `onBytes` is called for each piece. Throws `Gone` if it is incomplete. */
  receive(request, onBytes) {
    const connection = request.stream?.session ?? request.socket;
    const own = this.#laneOf(connection);
    this.#shared.open();
    own.open();
    return new Promise((resolve, reject) => {
      let bytes = 0;
      request.on('data', (piece) => {
        // Bytes that had arrived when the connection was cut are lost with it.
        if (connection.destroyed) return;
        bytes += piece.length;
        this.#received += piece.length;
        onBytes(piece);
        if (this.#part) this.#countLanes();
        if (this.#received >= this.#cutAt) {
          this.#cutAt = this.#received + this.#nextCut();
          this.#counts.cuts += 1;
          connection.destroy();
          return;
        }
        const waitMs = Math.max(this.#shared.carry(piece.length), own.carry(piece.length));
        if (waitMs > GRAIN_MS) {
          request.pause();
          setTimeout(() => request.resume(), waitMs);
        }
      });
      request.once('end', () => resolve(bytes));
      request.once('error', () => reject(new Gone()));
      request.once('close', () => reject(new Gone()));
    }).finally(() => {
      this.#shared.close();
      own.close();
    });
  }

  #laneOf(connection) {
    const lane = this.#own.get(connection) ?? new Lane(this.#shape.connectionBytesPerSecond);
    this.#own.set(connection, lane);
    return lane;
  }

  // Between a half and one and a half of the mean.
  #nextCut() {
    if (!this.#shape.cutEveryBytes) return Number.POSITIVE_INFINITY;
    this.#seed = (this.#seed * 48271) % 2147483647;
    return this.#shape.cutEveryBytes * (0.5 + this.#seed / 2147483647);
  }
}

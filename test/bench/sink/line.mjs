// The simulated connection between browser and sink: its rate, its latency, cut connections and refused requests. Independent of
// protocols. Without limits, it adds no delay.
import { setTimeout as pause } from 'node:timers/promises';

// Timers are imprecise. Waits of up to `GRAIN_MS` are skipped. Up to `CATCH_UP_MS` that
// late timers cost are recovered.
const GRAIN_MS = 4;
const CATCH_UP_MS = 40;
/**
 * Bodies above this size are never refused. The sink can refuse a request only after its body; a real service would not read a
 * large body first.
 */
const REFUSED_BODY_BYTES = 16 * 2 ** 20;

/** Error for a body that did not arrive completely: the browser aborted the request, or the connection was cut. */
export class Gone extends Error {}

/** A limit in bytes per second for one connection or for all together; undefined means no limit. */
export class Lane {
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

  /** Adds `bytes` to the transfer. Returns the milliseconds until all added bytes are transferred. */
  carry(bytes) {
    if (!this.#bytesPerSecond) return 0;
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now - CATCH_UP_MS) + (bytes / this.#bytesPerSecond) * 1000;
    return this.#freeAt - now;
  }
}

/** A connection as defined in profiles.mjs. Adds the cuts and refusals to `counts`. */
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
  // Constant, so that the connections of every client are cut after the same numbers of bytes.
  #seed = 1;

  constructor(shape, counts) {
    this.#shape = shape;
    this.#counts = counts;
    this.#shared = new Lane(shape.totalBytesPerSecond);
    this.#cutAt = this.#nextCut();
  }

  /** Counts concurrent requests as `part` (`before` or `after`) from now on. */
  begin(part) {
    this.#part = part;
  }

  /** Adds the current number of arriving bodies to the average over time. */
  #countLanes() {
    const now = performance.now();
    const lanes = this.#counts.lanes[this.#part];
    const elapsed = now - (this.#countedAt ?? now);
    this.#countedAt = now;
    lanes.ms += elapsed;
    lanes.sum += elapsed * this.#shared.bodies;
  }

  /** Waits for the latency of a request. */
  latency() {
    return this.#shape.latencyMs ? pause(this.#shape.latencyMs) : undefined;
  }

  /** Returns true if this request gets a 429 after its body was received. */
  refuses(request) {
    if (!this.#shape.refuseEvery || Number(request.headers['content-length'] ?? 0) > REFUSED_BODY_BYTES)
      return false;
    this.#asked += 1;
    if (this.#asked % this.#shape.refuseEvery !== 0) return false;
    this.#counts.refusals += 1;
    return true;
  }

  /** Reads a body at the connection's rate, and calls `onBytes` for each piece. Rejects with `Gone` if the body is incomplete. */
  receive(request, onBytes) {
    const connection = request.stream?.session ?? request.socket;
    const own = this.#laneOf(connection);
    this.#shared.open();
    own.open();
    return new Promise((resolve, reject) => {
      let bytes = 0;
      request.on('data', (piece) => {
        // After a cut, ignores the bytes that had arrived but were not read.
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

  // Returns the number of bytes until the next cut: 0.5 to 1.5 times `cutEveryBytes`.
  #nextCut() {
    if (!this.#shape.cutEveryBytes) return Number.POSITIVE_INFINITY;
    this.#seed = (this.#seed * 48271) % 2147483647;
    return this.#shape.cutEveryBytes * (0.5 + this.#seed / 2147483647);
  }
}

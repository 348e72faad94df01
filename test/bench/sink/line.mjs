// The line between browser and sink: how fast bytes come in, how long a request waits, what is cut and what is refused. It
// knows connections and bodies, no protocol. A line without limits costs nothing.
import { setTimeout as pause } from 'node:timers/promises';

// Timers are coarse: a wait below this is left out, and one that came late may be made up for within the second figure.
const GRAIN_MS = 4;
const CATCH_UP_MS = 40;
/** A refusal comes after the body, so a great body is never refused: nobody's service would read it first. */
const REFUSED_BODY_BYTES = 16 * 2 ** 20;

/** The body did not come in whole: the browser let go, or the line was cut. */
export class Gone extends Error {}

/** One direction of a line that carries so many bytes a second, none means any number. */
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
    // A line that carried nothing for a while has not saved anything up.
    if (this.#bodies === 0) this.#freeAt = Math.max(this.#freeAt, performance.now());
    this.#bodies += 1;
  }

  close() {
    this.#bodies -= 1;
  }

  /** Milliseconds until these bytes are through. */
  carry(bytes) {
    if (!this.#bytesPerSecond) return 0;
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now - CATCH_UP_MS) + (bytes / this.#bytesPerSecond) * 1000;
    return this.#freeAt - now;
  }
}

/** A line of the shape that profiles.mjs describes. `counts` is told of cuts and refusals. */
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
  // The same sequence in every run: each client meets the same faults.
  #seed = 1;

  constructor(shape, counts) {
    this.#shape = shape;
    this.#counts = counts;
    this.#shared = new Lane(shape.totalBytesPerSecond);
    this.#cutAt = this.#nextCut();
  }

  /** From now on lanes are counted as `before` or `after`. */
  begin(part) {
    this.#part = part;
  }

  /** How many bodies came in at once, on the average of the pieces' times. */
  #countLanes() {
    const now = performance.now();
    const lanes = this.#counts.lanes[this.#part];
    const elapsed = now - (this.#countedAt ?? now);
    this.#countedAt = now;
    lanes.ms += elapsed;
    lanes.sum += elapsed * this.#shared.bodies;
  }

  /** The time that every request takes beside its bytes. */
  latency() {
    return this.#shape.latencyMs ? pause(this.#shape.latencyMs) : undefined;
  }

  /** Whether this request, once received, is to be answered 429. */
  refuses(request) {
    if (!this.#shape.refuseEvery || Number(request.headers['content-length'] ?? 0) > REFUSED_BODY_BYTES)
      return false;
    this.#asked += 1;
    if (this.#asked % this.#shape.refuseEvery !== 0) return false;
    this.#counts.refusals += 1;
    return true;
  }

  /** Takes a body in at the line's pace; `onBytes` hears of each piece. Throws `Gone` where it does not come whole. */
  receive(request, onBytes) {
    const connection = request.stream?.session ?? request.socket;
    const own = this.#laneOf(connection);
    this.#shared.open();
    own.open();
    return new Promise((resolve, reject) => {
      let bytes = 0;
      request.on('data', (piece) => {
        // What had come in already when the line was cut is lost with it.
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

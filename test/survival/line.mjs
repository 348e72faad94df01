// A bad line: TCP connections between a browser and the servers of a world, with a rate, a latency, cuts, stalls and refusals. Does
// not depend on what the connections carry.
import { EventEmitter, once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Lane } from '../bench/sink/line.mjs';

// All connections share the rate in slices of this size, so that a small request does not wait for a large one.
const SLICE_BYTES = 16 * 1024;
// Timers are too inaccurate for shorter waits.
const GRAIN_MS = 4;
/** An alert of TLS ("handshake failure"), which no client of HTTP can read. */
const TLS_ALERT = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x28]);

/** Waits until `lane` has carried `bytes`. */
export async function carry(lane, bytes) {
  const waitMs = lane.carry(bytes);
  if (waitMs > GRAIN_MS) await pause(waitMs);
}

/** What happens to a new connection in each state. */
const RECEIVE = {
  open: undefined,
  stalled: undefined,
  refusing: (socket) => socket.resetAndDestroy(),
  // A browser reads a response only when it has sent its request, so the connection is closed, too.
  foreign: (socket) => socket.end(TLS_ALERT, () => socket.destroy()),
};

/**
 * `sentBytes` counts what the browser has sent over the line, with headers. Bytes in transit when a connection is cut may not have
 * arrived at the server. Responses only have the latency, no rate.
 */
export class Line {
  sentBytes = 0;
  #state = 'open';
  #lane;
  #latencyMs;
  #connections = new Set();
  #servers = [];
  #changes = new EventEmitter().setMaxListeners(0);

  constructor({ bytesPerSecond, latencyMs }) {
    this.#latencyMs = latencyMs;
    this.setRate(bytesPerSecond);
  }

  /** Listens on a free port, and resolves with it. Connections lead to the port that `portOf` returns. */
  async listen(portOf) {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => undefined);
      const receive = RECEIVE[this.#state];
      if (receive) receive(socket);
      else this.#connect(socket, portOf());
    });
    this.#servers.push(server);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server.address().port;
  }

  setRate(bytesPerSecond) {
    this.#lane = new Lane(bytesPerSecond);
  }

  /** Resets all connections. The line then works as before. */
  cut() {
    for (const { browser, server } of this.#connections) {
      browser.resetAndDestroy();
      server.destroy();
    }
  }

  /**
   * Nothing moves, and nothing is reset. If `isFinal`, the connections of now never move again, and the browser is not notified.
   */
  stall({ isFinal = false } = {}) {
    this.#state = 'stalled';
    for (const connection of this.#connections) connection.isDead ||= isFinal;
  }

  /** Resets all connections, and new ones at once. */
  refuse() {
    this.#state = 'refusing';
    this.cut();
  }

  /** Resets all connections. New ones get an alert of TLS instead of a response. */
  answerForeign() {
    this.#state = 'foreign';
    this.cut();
  }

  /** Ends a stall or a refusal. */
  open() {
    this.#state = 'open';
    this.#changes.emit('open');
  }

  close() {
    this.open();
    this.cut();
    for (const server of this.#servers) server.close();
  }

  #connect(browser, port) {
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    server.on('error', () => undefined);
    const connection = { browser, server, isDead: false };
    this.#connections.add(connection);
    this.#forward(connection, browser, (slice) => {
      this.sentBytes += slice?.length ?? 0;
      write(server, slice);
    });
    // A timer for each slice, all with the same delay, keeps their order.
    this.#forward(connection, server, (slice) => setTimeout(write, this.#latencyMs, browser, slice));
  }

  /** Calls `deliver` with each slice that `from` gets, as soon as the line has carried it, and without a slice at the end. */
  #forward(connection, from, deliver) {
    const { browser, server } = connection;
    const to = from === browser ? server : browser;
    from.on('data', async (bytes) => {
      from.pause();
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        const slice = bytes.subarray(at, at + SLICE_BYTES);
        if (from === browser) await carry(this.#lane, slice.length);
        if (!(await this.#moves(connection)) || from.destroyed) return;
        deliver(slice);
      }
      from.resume();
    });
    from.on('end', async () => {
      if (await this.#moves(connection)) deliver();
    });
    from.on('close', async () => {
      if (to.destroyed) this.#connections.delete(connection);
      else if (await this.#moves(connection)) setTimeout(() => to.destroySoon(), this.#latencyMs);
    });
  }

  /** Resolves when the line is not stalled: with true, or with false if this connection never moves again. */
  async #moves(connection) {
    while (this.#state === 'stalled' && !connection.isDead) await once(this.#changes, 'open');
    return !connection.isDead;
  }
}

function write(socket, slice) {
  if (socket.destroyed) return;
  if (slice) socket.write(slice);
  else socket.end();
}

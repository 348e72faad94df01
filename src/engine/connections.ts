// The connections of one engine: the one that new files go by, and older ones for as long as rows go by them. It knows
// neither rows nor what a connection is made of.

import type { Settings } from '../core/config.ts';
import type { Connection } from './connection.ts';

export class Connections {
  /** The one of the settings in force. */
  current: Connection;
  readonly #connect: (settings: Settings) => Connection;
  readonly #onAuth: (connection: Connection) => void;
  /** Each with how to stop listening to its sign-in, which other engines may share. */
  readonly #open = new Map<Connection, () => void>();

  /** `onAuth` hears when sign-in of one of them moved. */
  constructor(
    settings: Settings,
    connect: (settings: Settings) => Connection,
    onAuth: (connection: Connection) => void,
  ) {
    this.#connect = connect;
    this.#onAuth = onAuth;
    this.current = this.open(settings);
  }

  get all(): readonly Connection[] {
    return [...this.#open.keys()];
  }

  open(settings: Settings): Connection {
    const connection = this.#connect(settings);
    this.#open.set(
      connection,
      connection.auth.subscribe(() => this.#onAuth(connection)),
    );
    return connection;
  }

  close(connection: Connection): void {
    this.#open.get(connection)?.();
    this.#open.delete(connection);
    connection.close();
  }

  /** For when all were closed: gives the same new one for each that is asked for, and has one in force. */
  reopen(): (closed: Connection) => Connection {
    const opened = new Map<Connection, Connection>();
    const again = (closed: Connection): Connection => {
      const connection = opened.get(closed) ?? this.open(closed.settings);
      opened.set(closed, connection);
      return connection;
    };
    this.current = again(this.current);
    return again;
  }
}

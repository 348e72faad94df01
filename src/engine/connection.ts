// The way to one service: calls, sign-in, the sender and the hash workers. Uploads with the same service settings share it,
// whatever else their settings are (folder, limits, chunk size).

import { type AuthSession, openAuthSession } from '../auth/session.ts';
import type { AuthTimes } from '../auth/times.ts';
import type { Report } from '../core/changes.ts';
import { type Settings, serviceKeyOf } from '../core/config.ts';
import type { Calls, Put, WithToken } from '../core/types.ts';
import { HashPool } from '../pipeline/hash-pool.ts';
import { InFlightChunks } from '../pipeline/upload.ts';
import { createCalls, createPost } from '../service/client.ts';
import { createPut } from '../service/put.ts';
import type { WaitReason } from './upload-state.ts';

/** What is open while a service is used. */
export interface ServiceClient {
  readonly auth: AuthSession;
  readonly calls: Calls;
  readonly put: Put;
  readonly pool: HashPool;
  /** How long a PUT may stand still, where the page has set it. */
  readonly stallMs: number | undefined;
  close(): void;
}

/** Times that tests make small; milliseconds. */
export interface Times {
  /** A call to the service is given up after this long. */
  readonly callTimeoutMs?: number;
  /** A PUT without progress is given up after this long. */
  readonly stallMs?: number;
  readonly auth?: Partial<AuthTimes>;
}

export interface ConnectOptions {
  readonly times?: Times | undefined;
  /** Called when somebody signed out of `auth`; `withToken` has the token of before until `signal` aborts. */
  readonly onSignOut: (auth: AuthSession, withToken: WithToken, signal: AbortSignal) => Promise<unknown>;
  /** Asked before sign-in leaves the page; false keeps it. */
  readonly confirmRedirect: () => boolean;
  /** Aborts when calls that are under way may be on a dead connection. */
  readonly connectionChange: () => AbortSignal;
}

export function connect(
  settings: Settings,
  report: Report,
  { times = {}, onSignOut, confirmRedirect, connectionChange }: ConnectOptions,
): ServiceClient {
  const auth: AuthSession = openAuthSession(settings, {
    post: createPost(settings, { timeoutMs: times.callTimeoutMs }),
    report,
    onSignOut: (...last) => onSignOut(auth, ...last),
    confirmRedirect,
    ...(times.auth && { options: times.auth }),
  });
  const options = { timeoutMs: times.callTimeoutMs, connectionChange };
  const pool = new HashPool({ algorithm: settings.hash, workerUrl: settings.workerUrl });
  return {
    auth,
    pool,
    stallMs: times.stallMs,
    calls: createCalls(settings, auth.withToken, options),
    put: createPut({ baseUrl: settings.baseUrl, statuses: settings.profile.putStatuses }),
    close() {
      pool.close();
      auth.close();
    },
  };
}

/** Opens the client of a service when it is used, and again when it is used after `close()`. */
export class Service {
  /** Chunks on their way to this service: equal content sent to another service does not count. */
  readonly inFlight = new InFlightChunks();
  readonly #open: () => ServiceClient;
  readonly #onAuth: (service: Service) => void;
  #client: ServiceClient | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(open: () => ServiceClient, onAuth: (service: Service) => void) {
    this.#open = open;
    this.#onAuth = onAuth;
  }

  get client(): ServiceClient {
    if (this.#client) return this.#client;
    this.#client = this.#open();
    this.#unsubscribe = this.#client.auth.subscribe(() => this.#onAuth(this));
    return this.#client;
  }

  close(): void {
    this.#unsubscribe?.();
    this.#client?.close();
    this.#client = undefined;
  }
}

/** What an upload is sent by: its own settings, and the service that it shares. */
export interface Connection {
  readonly settings: Settings;
  readonly service: Service;
}

/** The connections of one engine. A service is open for as long as an upload, or the settings in force, need it. */
export class Connections {
  /** The one of the settings in force. */
  current: Connection;
  readonly #connect: (settings: Settings) => ServiceClient;
  readonly #onAuth: (service: Service) => void;
  readonly #services = new Map<string, Service>();

  /** `onAuth` is called when sign-in of one of the services changed. */
  constructor(
    settings: Settings,
    connect: (settings: Settings) => ServiceClient,
    onAuth: (service: Service) => void,
  ) {
    this.#connect = connect;
    this.#onAuth = onAuth;
    this.current = this.#connection(settings);
  }

  get services(): readonly Service[] {
    return [...this.#services.values()];
  }

  /** Puts other settings in force. */
  configure(settings: Settings): void {
    this.current = this.#connection(settings);
  }

  /** Closes the services that none of these connections, and no file to come, will use. */
  closeUnused(connections: Iterable<Connection>): void {
    const used = new Set([this.current.service]);
    for (const { service } of connections) used.add(service);
    for (const [key, service] of this.#services) {
      if (used.has(service)) continue;
      service.close();
      this.#services.delete(key);
    }
  }

  /** Another owner uses the page: only the service in force may still get a token. */
  leaveAuth(): void {
    for (const service of this.services) if (service !== this.current.service) service.close();
  }

  /** Closes all of them; one that is used again opens again. */
  close(): void {
    for (const service of this.#services.values()) service.close();
  }

  #connection(settings: Settings): Connection {
    const key = serviceKeyOf(settings);
    const service = this.#services.get(key) ?? new Service(() => this.#connect(settings), this.#onAuth);
    this.#services.set(key, service);
    return { settings, service };
  }
}

/** The reason to show; `undefined` while sign-in keeps no upload waiting. */
export function waitsFor({
  required,
  state,
  error,
}: Pick<AuthSession['snapshot'], 'required' | 'state' | 'error'>): WaitReason | undefined {
  if (required)
    return state === 'prompt' || state === 'popup' || state === 'popup-lost' ? 'signed-out' : 'challenge';
  if (state !== 'cooling') return undefined;
  return error?.code === 'offline' || error?.code === 'rate-limited' ? error.code : undefined;
}

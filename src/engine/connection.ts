// Service clients (calls, sign-in, PUT, hash workers). Uploads with the same `service` and `sign-in` settings share one client.

import { openAuthSession } from '../auth/session.ts';
import type { AuthSession } from '../auth/types.ts';
import type { AuthTimes } from '../core/auth-times.ts';
import type { Report } from '../core/changes.ts';
import { serviceKeyOf, signInKeyOf, withSignInOf } from '../core/config.ts';
import { preconnect } from '../core/preconnect.ts';
import { isMinChunkSize } from '../core/read-profile.ts';
import type { Settings } from '../core/settings-table.ts';
import type { AuthState, Calls, Put, Session, WithToken } from '../core/types.ts';
import { whenIdle } from '../core/wait.ts';
import type { Warn } from '../core/warn.ts';
import { CommitPoller } from '../pipeline/commit-poller.ts';
import { HashPool } from '../pipeline/hash-pool.ts';
import { chunkSizeFor, SAFE_CHUNK_BYTES } from '../pipeline/plan.ts';
import type { UsedNames } from '../pipeline/renaming.ts';
import type { RunParts } from '../pipeline/run.ts';
import { createCalls, createPost } from '../service/client.ts';
import { createPut } from '../service/put.ts';
import { photos, preparesPhotos } from './late-photos.ts';
import type { WaitReason } from './upload-state.ts';

/** What a session says about chunk sizes, in bytes. */
export interface ChunkSizes {
  /** The size that the service chose (`profile.chunkSize`). */
  readonly chunkSizeBytes?: number | undefined;
  /** The smallest chunk that the storage takes. */
  readonly minChunkBytes?: number | undefined;
}

export interface ServiceClient {
  readonly auth: AuthSession;
  readonly calls: Calls;
  readonly put: Put;
  readonly pool: HashPool;
  /** Timeout of a PUT without progress, in milliseconds. If `undefined`, the timeout is derived from the measured rate. */
  readonly stallMs: number | undefined;
  close(): void;
}

/** Timeouts in milliseconds, which tests shorten. */
export interface Times {
  readonly callTimeoutMs?: number;
  /** Timeout of a PUT without progress. */
  readonly stallMs?: number;
  /** Longest time of `transformFile`. Defaults to 5 minutes. */
  readonly transformMs?: number;
  /** Longest time for reading a photo, and again for preparing it. Defaults to one minute. */
  readonly photoMs?: number;
  readonly auth?: Partial<AuthTimes>;
}

export interface ConnectOptions {
  readonly times?: Times | undefined;
  /** Called on sign-out from `auth`, in this page (`isHere`) or elsewhere. `withToken` uses the old token until `signal` aborts. */
  readonly onSignOut: (
    auth: AuthSession,
    withToken: WithToken,
    signal: AbortSignal,
    isHere: boolean,
  ) => Promise<unknown>;
  /** Called before sign-in navigates away from the page. Returns false to stay on the page. */
  readonly confirmRedirect: () => boolean;
  /** Returns a signal that aborts when the network may have changed. Open connections may then be dead. */
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
    onSignOut: (...signOutArguments) => onSignOut(auth, ...signOutArguments),
    confirmRedirect,
    ...(times.auth && { options: times.auth }),
  });
  const options = { timeoutMs: times.callTimeoutMs, connectionChange };
  const pool = new HashPool({
    algorithm: settings.hash,
    hashesFiles: settings.profile.sendFileHash,
    workerUrl: settings.workerUrl,
  });
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

/** Timeout of the call that cancels a session, in milliseconds. */
const CANCEL_MS = 10_000;

/** States of sign-in that last until the user or the page does something. */
const WAITING: readonly AuthState[] = ['signed-out', 'prompt', 'choose', 'answer', 'wait'];

/** Opens the client of a service on first use, and again on the first use after `close()`. */
export class Service {
  /** Repeats the accepted commits of all uploads. */
  readonly poller = new CommitPoller();
  /** Names that running uploads with `on-conflict="rename"` use. */
  readonly usedNames: UsedNames = new Map();
  /** What the latest session said about chunk sizes. Only a guess for the next file, whose own session decides. */
  chunkSizes: ChunkSizes;
  readonly #settings: Settings;
  readonly #signInKey: string;
  readonly #open: (settings: Settings) => ServiceClient;
  readonly #onAuth: (service: Service) => void;
  #client: ServiceClient | undefined;
  #unsubscribe: (() => void) | undefined;
  /** True if calls are possible now, with a token or without (`none`). */
  isReady = false;
  #readyCount = 0;

  constructor(
    settings: Settings,
    open: (settings: Settings) => ServiceClient,
    onAuth: (service: Service) => void,
  ) {
    this.#settings = settings;
    const { minChunkSize } = settings.profile;
    this.chunkSizes = isMinChunkSize(minChunkSize) ? { minChunkBytes: minChunkSize } : {};
    this.#signInKey = signInKeyOf(settings);
    this.#open = open;
    this.#onAuth = onAuth;
  }

  /** Cancels a session. Never rejects. Does not ask the user to sign in. */
  readonly cancel = async (session: Session): Promise<void> => {
    if (this.isReady)
      // The service drops a session that stays after a while.
      await this.#client?.calls.cancel?.(session, AbortSignal.timeout(CANCEL_MS)).catch(() => undefined);
  };

  /** True while the calls of small files share requests. */
  get isBatching(): boolean {
    return this.#client?.calls.isBatching?.() === true;
  }

  get client(): ServiceClient {
    if (this.#client) return this.#client;
    this.#client = this.#open(this.#settings);
    const { auth } = this.#client;
    const noteState = (): void => {
      const isReady = auth.snapshot.state === 'signed-in' || auth.snapshot.mode === 'none';
      if (isReady && !this.isReady) this.#readyCount += 1;
      this.isReady = isReady;
    };
    noteState();
    this.#unsubscribe = auth.subscribe(() => {
      noteState();
      this.#onAuth(this);
    });
    return this.#client;
  }

  /** Number of times that calls became possible, without the current time. Increases when an upload can first use the service. */
  get pastReadyCount(): number {
    return this.#readyCount - Number(this.isReady);
  }

  /**
   * Returns true if uploads that wait for this service should wait for `current` instead: it has other sign-in settings for the
   * same owner, or for an owner who is named only now, and nothing but the user or the page can end the wait.
   */
  isReplacedBy(current: Service): boolean {
    const { baseUrl, clientId, owner } = this.#settings;
    const now = current.#settings;
    const isSame =
      baseUrl === now.baseUrl && clientId === now.clientId && (owner === '' || owner === now.owner);
    const state = this.#client?.auth.snapshot.state ?? 'signed-out';
    return isSame && this.#signInKey !== current.#signInKey && WAITING.includes(state) && !this.isReady;
  }

  /** Loads what hashes need. Never rejects. */
  preload(): void {
    void this.#client?.pool.preload();
  }

  /** After a sign-out, allows tokens to be requested from the page again. */
  allowSignIn(): void {
    this.#client?.auth.allow();
  }

  close(): void {
    this.#unsubscribe?.();
    this.#client?.close();
    this.#client = undefined;
    this.isReady = false;
  }
}

/** The settings and the service of an upload. Several uploads may share a service. */
export interface Connection {
  readonly settings: Settings;
  readonly service: Service;
}

/** The services of one engine, by their settings. `closeUnused()` closes services that are no longer needed. */
export class Connections {
  /** Connection with the current settings. */
  current: Connection;
  readonly #connect: (settings: Settings) => ServiceClient;
  readonly #onAuth: (service: Service) => void;
  readonly #services = new Map<string, Service>();

  /** `onAuth` is called when the sign-in state of a service changes. */
  constructor(
    settings: Settings,
    connect: (settings: Settings) => ServiceClient,
    onAuth: (service: Service) => void,
  ) {
    this.#connect = connect;
    this.#onAuth = onAuth;
    this.current = this.#connection(settings);
    this.preload();
  }

  /** Sign-in session of the current settings. */
  get auth(): AuthSession {
    return this.current.service.client.auth;
  }

  get services(): readonly Service[] {
    return [...this.#services.values()];
  }

  configure(settings: Settings): void {
    this.current = this.#connection(settings);
    this.preload();
  }

  /**
   * Returns a connection with the settings of an upload and the current sign-in settings. An upload that was added without an owner
   * stays without, but uses the session of the owner.
   */
  withCurrentSignIn({ settings }: Connection): Connection {
    const newSettings = withSignInOf(settings, this.current.settings);
    return {
      settings: { ...newSettings, owner: settings.owner },
      service: this.#connection(newSettings).service,
    };
  }

  /** Closes all services except those of `connections` and of the current settings. */
  closeUnused(connections: Iterable<Connection>): void {
    const usedServices = new Set([this.current.service]);
    for (const { service } of connections) usedServices.add(service);
    for (const [key, service] of this.#services) {
      if (usedServices.has(service)) continue;
      service.close();
      this.#services.delete(key);
    }
  }

  /**
   * Closes all services except the current one. Used when the owner changes, because the other services must not get the new
   * owner's token.
   */
  leaveAuth(): void {
    for (const service of this.services) if (service !== this.current.service) service.close();
  }

  /** Allows sign-in, but not to `except`. Uploads that were added before a change of the settings may have their own session. */
  allowSignIn(except?: Service): void {
    const { service: current } = this.current;
    for (const service of this.services)
      if (service !== except && !service.isReplacedBy(current)) service.allowSignIn();
  }

  /** Closes all services. Each service opens again on its next use. */
  close(): void {
    for (const service of this.#services.values()) service.close();
  }

  /** Loads what the current settings will need, when the page is idle: after a release, the files of this version may be gone. */
  preload(): void {
    const { settings, service } = this.current;
    whenIdle(() => {
      if (preparesPhotos(settings)) photos.preload();
      service.preload();
    });
  }

  /** Opens connections and starts hash workers for uploads with the current settings. */
  preconnect(): void {
    const { settings, service } = this.current;
    preconnect([settings.baseUrl, ...settings.uploadOrigins]);
    service.client.pool.warmUp();
  }

  #connection(settings: Settings): Connection {
    const key = serviceKeyOf(settings);
    const service = this.#services.get(key) ?? new Service(settings, this.#connect, this.#onAuth);
    this.#services.set(key, service);
    return { settings, service };
  }
}

/** Returns the reason why uploads have to wait for sign-in; `undefined` if they do not have to wait. */
export function waitsFor({
  required,
  state,
  error,
}: Pick<AuthSession['snapshot'], 'required' | 'state' | 'error'>): WaitReason | undefined {
  if (required)
    return state === 'prompt' || state === 'popup' || state === 'popup-lost' ? 'signed-out' : 'challenge';
  if (state !== 'cooling') return undefined;
  return error?.code === 'rate-limited' ? 'rate-limited' : 'offline';
}

/** Returns the time after which saved progress of the connection is deleted (`keep-days`), in milliseconds. */
export const keepDurationMs = ({ settings }: Pick<Connection, 'settings'>): number =>
  settings.keepDays * 24 * 3_600_000;

/** Returns the time after which a request that keeps failing fails its upload (`retry-minutes`), in milliseconds. */
export const retryDurationMs = ({ settings }: Pick<Connection, 'settings'>): number =>
  settings.retryMinutes * 60_000;

/** Returns the probable chunk size of a file, and the one in a session. */
export function chunkSizesOf(
  { service, settings }: Connection,
  sizeBytes: number,
  warn?: Warn,
): Pick<RunParts, 'chunkSizeBytes' | 'chunkSizeIn' | 'isSizeUpToSession'> {
  const { chunkSize: setting, profile } = settings;
  const isSizeUpToSession =
    profile.chunkSize !== undefined ||
    (setting === 'auto' && !isMinChunkSize(profile.minChunkSize) && sizeBytes > SAFE_CHUNK_BYTES);
  const sizeIn = ({ chunkSizeBytes, minChunkBytes }: ChunkSizes, onAdjusted?: Warn): number =>
    chunkSizeFor(sizeBytes, chunkSizeBytes ?? setting, minChunkBytes, onAdjusted);
  return {
    isSizeUpToSession,
    chunkSizeBytes: sizeIn(service.chunkSizes, isSizeUpToSession ? undefined : warn),
    chunkSizeIn: ({ chunkSizeBytes, minChunkBytes }, lostBytes = 0) => {
      service.chunkSizes = { chunkSizeBytes, minChunkBytes };
      const isKept = chunkSizeBytes === undefined && lostBytes >= (minChunkBytes ?? SAFE_CHUNK_BYTES);
      return isKept ? lostBytes : sizeIn(service.chunkSizes, isSizeUpToSession ? warn : undefined);
    },
  };
}

// Starts the reference service: API and storage on two origins, with one data folder. Used by tests and main.ts.
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createApp } from './app.ts';
import { createBackground } from './background.ts';
import { type Clock, createClock } from './clock.ts';
import { lockData } from './data-lock.ts';
import type { Faults, LogEntry } from './faults.ts';
import { createLimits, createReadClient } from './limits.ts';
import { createLocks } from './locks.ts';
import { fillOptions, readOrigin, type ServiceOptions } from './options.ts';
import { openTables, type Parts, type StoredFile } from './parts.ts';
import { createPeople, type People } from './people.ts';
import { attach, closeServer, listen } from './ports.ts';
import { openSeal } from './seal.ts';
import { demoPassword, type Folder, folders, type User, users } from './seed.ts';
import { plantDemoFile } from './seed-file.ts';
import { openState } from './state.ts';
import { openStorage } from './storage.ts';
import { createStorageHandler } from './storage-server.ts';
import { sweepChunks } from './uploads.ts';
import { createUsage } from './usage.ts';

export type { Fault, LogEntry, NetworkShape, Operation } from './faults.ts';
export type { ServiceOptions } from './options.ts';

/** A running service. */
export interface Service {
  /** Origin of the API and of `/authorize`, without a trailing slash. */
  baseUrl: string;
  /** Origin of the storage. */
  storageUrl: string;
  servicePort: number;
  storagePort: number;
  /** Fault injection and throttling. Throws without `test: true`. */
  faults: Faults;
  /** The request log, oldest first; empty without `test: true`. */
  log: LogEntry[];
  clock: Clock;
  /** The demo users' devices; only with `test: true`. */
  people: People;
  seed: { users: readonly User[]; folders: readonly Folder[]; password: string };
  /** Adds an origin to `appOrigins`. */
  allowOrigin(origin: string): void;
  /** Creates a bearer token. `user` is an id, an email address, or the part before the `@`. Only with `test: true`. */
  createToken(user: string, lifetimeMs?: number): Promise<{ token: string; expires_at: string }>;
  /** Resolves with the finished files, newest last. */
  listFiles(folderId?: string): Promise<StoredFile[]>;
  /** Yields the bytes of a finished file, without a request to the service. */
  readFile(fileId: string): AsyncIterable<Uint8Array>;
  /** Stops the servers and closes open connections. Keeps the data. */
  close(): Promise<void>;
}

/** Starts both servers. Rejects if a port is in use or a setting is not valid. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const settings = fillOptions(options);
  const { dataDir, fsync, host, hash, publicUrls } = settings;
  const clock = createClock();
  // The handlers need the ports, so the servers listen before they have handlers.
  const serviceServer = createServer();
  const storageServer = createServer();
  const servers = [serviceServer, storageServer];
  const background = createBackground();
  const endings: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    // A request may wait for work that the first of these ends, and may add some until the second has ended.
    const early = background.end();
    await Promise.all(servers.map(closeServer));
    await Promise.all([early, background.end()]);
    for (const end of endings.splice(0)) await end();
  };
  try {
    const servicePort = await listen(serviceServer, settings.servicePort);
    const storagePort = await listen(storageServer, settings.storagePort);
    endings.push(lockData(dataDir));
    const seal = openSeal(dataDir);
    const storage = openStorage(dataDir, hash, fsync);
    const state = await openState({ dataDir, now: clock.now, fsync });
    endings.unshift(() => state.close());
    const parts: Parts = {
      settings,
      clock,
      tables: openTables(state),
      storage,
      seal,
      limits: createLimits(settings, clock),
      locks: createLocks(),
      background,
      usage: createUsage(settings, clock.now),
      readClient: createReadClient(settings.trustedProxies),
      baseUrl: publicUrls.service ?? `http://${host}:${servicePort}`,
      storageUrl: publicUrls.storage ?? `http://${host}:${storagePort}`,
    };
    await plantDemoFile(parts);
    await countUsage(parts);
    for (const user of users) await sweepChunks(parts, user.id);
    const test = settings.test ? (await import('./test-mode.ts')).createTestMode(parts) : undefined;
    const app = createApp(parts, test);
    const listener = getRequestListener((request, env) => app.fetch(request, env), {
      overrideGlobalObjects: false,
    });
    attach(serviceServer, listener, parts.baseUrl);
    attach(storageServer, test?.storage ?? createStorageHandler(parts), parts.storageUrl);
    // A request may take any time, because connections can be slow. The socket timeout closes idle connections.
    storageServer.requestTimeout = 0;
    storageServer.timeout = 120_000;
    return {
      ...describe(parts),
      servicePort,
      storagePort,
      log: test?.faults.log ?? [],
      get faults() {
        if (!test) throw new Error('only with `test: true`');
        return test.faults;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function countUsage({ tables, usage }: Parts): Promise<void> {
  const sessions = await tables.sessions.list(({ phase }) => phase === 'open');
  for (const session of sessions.sort((a, b) => a.expiresAt - b.expiresAt)) usage.restore(session);
  for (const { userId, sizeBytes } of await tables.files.list()) usage.addFile(userId, sizeBytes);
}

function describe(parts: Parts): Omit<Service, 'servicePort' | 'storagePort' | 'faults' | 'log' | 'close'> {
  const { settings, tables, storage, clock } = parts;
  const people = createPeople(parts);
  return {
    baseUrl: parts.baseUrl,
    storageUrl: parts.storageUrl,
    people,
    clock,
    seed: { users, folders, password: demoPassword },
    allowOrigin: (origin) => void settings.appOrigins.push(readOrigin(origin)),
    createToken: people.createToken,
    listFiles: (folderId) =>
      tables.files.list((file) => folderId === undefined || file.folderId === folderId),
    async *readFile(fileId) {
      const file = await tables.files.get(fileId);
      if (!file) throw new Error(`no such file: ${fileId}`);
      yield* storage.read(file.userId, file.chunks, 0, file.sizeBytes);
    },
  };
}

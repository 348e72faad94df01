// A tab of a simulation: an engine with a scripted service that may refuse any call, and checks of the changes that it reports.

import type { Report } from '../../src/core/changes.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/core/error-codes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { isActive } from '../../src/core/phases.ts';
import type { Settings, SettingsInput } from '../../src/core/settings-table.ts';
import type { Calls, CommitAnswer, Put, WithToken } from '../../src/core/types.ts';
import { type ConnectOptions, connect, type ServiceClient } from '../../src/engine/connection.ts';
import { Uploader } from '../../src/engine/uploader.ts';
import type { UploaderOptions } from '../../src/engine/uploader-options.ts';
import { HashPool } from '../../src/pipeline/hash-pool.ts';
import { createCalls } from '../../src/service/client.ts';
import { fileOf } from './bytes.ts';
import { settled } from './collect.ts';
import type { World } from './model.ts';
import { type Kind, type Request, ScriptedService } from './scripted-service.ts';
import type { SlowDrive } from './slow-worker.ts';

type Commit = NonNullable<Calls['commit']>;

/** Files that any tab may upload several times. */
export const FILES: readonly File[] = [
  fileOf(1, 0, 'empty.bin'),
  fileOf(2, 700, 'small.bin'),
  fileOf(3, 2500, 'three.bin'),
  fileOf(3, 2500, 'equal.bin'),
  fileOf(4, 6000, 'six.bin'),
];

/** Some files are on a drive that may be away, and some are stored by a storage that may be silent. */
export const isOnDrive = (name: string): boolean => /^(?:small|six|drive)/.test(name);
export const isOnSecondStorage = (name: string): boolean => /^(?:three|six|second)/.test(name);

/** Time after which a slice whose bytes do not arrive counts as slow, in milliseconds. */
const SLOW_MS = 100;
/** Number of slots with `concurrency="auto"`. */
const AUTO_SLOTS = 6;
/** Most uploads that run at the same time for each slot. */
const MOST_RUNNING_PER_SLOT = 12;

/** Errors, and the status of the response. Some contradict what the service has answered before. */
const FAULTS: Readonly<Record<Kind, readonly (readonly [ErrorCode, number?])[]>> = {
  open: [
    ['network'],
    ['rate-limited', 429],
    ['name-taken', 409],
    ['forbidden', 403],
    ['bad-response', 200],
    ['service-failed', 503],
  ],
  presign: [
    ['network'],
    ['rate-limited', 429],
    ['session-expired', 404],
    ['session-expired', 410],
    ['token-rejected', 401],
    ['bad-response', 200],
    ['forbidden', 403],
  ],
  put: [
    ['network'],
    ['upload-refused', 400],
    ['upload-refused', 413],
    ['rate-limited', 503],
    ['upload-stalled'],
    ['ticket-expired', 403],
  ],
  commit: [
    ['network'],
    ['rate-limited', 429],
    ['session-expired', 404],
    ['forbidden', 403],
    ['bad-response', 200],
    ['service-failed', 503],
  ],
  cancel: [['network'], ['forbidden', 403]],
};

/**
 * Returns the file with bodies that take as many rounds as `rounds()` says. The bytes of a file on the `drive` arrive in the worker
 * only while it is not away.
 */
function slowly(file: File, rounds: () => number, drive: SlowDrive | undefined): File {
  const slow = new File([file], file.name, { lastModified: file.lastModified });
  slow.slice = (...range) => {
    const part = drive ? drive.slice(file, range[0], range[1]) : file.slice(...range);
    const arrayBuffer = async (): Promise<ArrayBuffer> => {
      await pass(rounds());
      return file.slice(...range).arrayBuffer();
    };
    return Object.assign(part, { arrayBuffer });
  };
  return slow;
}

async function pass(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await settled();
}

interface Completed {
  readonly relativePath: string;
  readonly chunks: readonly { readonly hash: string }[];
}

/** One tab: an engine with the shared store, and checks of the changes that the engine reports. */
export class Tab {
  readonly uploader: Uploader;
  readonly #world: World;
  readonly #service = new ScriptedService();
  /** Number of PUTs that are running, by the host of their URLs. */
  readonly #putCounts = new Map<string, number>();
  /** The largest number of slots that the settings have allowed so far. */
  #mostSlots = 0;
  readonly #sentBytes = new Map<string, number>();
  #tokenCount = 0;
  readonly #removed = new Set<string>();
  /** Owner of each upload when the upload was added to the list. */
  readonly #owners = new Map<string, string | undefined>();
  /** The uploaders of the page of this tab. */
  readonly page: NonNullable<UploaderOptions['page']>;
  input: SettingsInput;

  constructor(world: World, input: SettingsInput, page: Tab['page'] = new Set()) {
    this.#world = world;
    this.page = page;
    this.input = input;
    this.setTokens(true);
    this.configure();
    Object.assign(this.#service, { stored: world.service.stored });
    this.uploader = new Uploader(this.input, {
      policy: { attempts: 3, baseMs: 0, capMs: 0 },
      store: world.store,
      page,
      connect: (...given) => this.#connect(...given),
    });
    this.uploader.onChange(({ name, detail }) => {
      world.changeCount += 1;
      if ('id' in detail) this.#look(name, detail as { id: string });
      this.#checkRunning();
    });
    void this.#serve();
  }

  /** Changes settings. */
  configure(given: SettingsInput = {}): void {
    this.input = { ...this.input, ...given };
    const { concurrency } = this.input;
    this.#mostSlots = Math.max(this.#mostSlots, typeof concurrency === 'number' ? concurrency : AUTO_SLOTS);
    this.uploader?.configure(this.input);
  }

  /** Gives the settings a `getToken`, or takes it away. */
  setTokens(hasTokens: boolean): void {
    const getToken = this.#world.auth === 'token' && hasTokens ? () => this.#getToken() : undefined;
    this.input = { ...this.input, getToken };
  }

  async addFiles(files: readonly File[]): Promise<void> {
    await this.uploader.addFiles(files.map((file) => this.#slowly(file)));
  }

  async provide(id: string, file: File): Promise<void> {
    await this.uploader.provide(id, this.#slowly(file));
  }

  #slowly(file: File): File {
    const drive = isOnDrive(file.name) ? this.#world.drive : undefined;
    return slowly(file, () => this.#world.readRounds, drive);
  }

  /** Signs out. Then none of the uploads that were in the list may be left. */
  async signOut(): Promise<void> {
    const ids = new Set(this.uploader.snapshot.files.map(({ id }) => id));
    await this.uploader.signOut();
    const left = this.uploader.snapshot.files.filter(({ id }) => ids.has(id));
    if (left.length > 0) this.#world.fault(`in the list after a sign-out: ${left.map(({ name }) => name)}`);
  }

  /** Checks that the list has no upload of another owner. Uploads that were added without an owner may stay. */
  checkOwner(): void {
    for (const { id, name } of this.uploader.snapshot.files) {
      const owner = this.#owners.get(id);
      if (owner && owner !== this.input.owner)
        this.#world.fault(`an upload of ${owner} in the list: ${name}`);
    }
  }

  async #getToken(): Promise<string> {
    await pass(1 + this.#world.tokenRounds);
    if (!this.#world.isSignedIn) throw new Error('signed out');
    this.#tokenCount += 1;
    return `${this.input.owner || 'nobody'}.${this.#tokenCount}`;
  }

  /**
   * Opens a client whose calls go to the service of the simulation, with the token of the real sign-in session: in requests with
   * batches, or without requests.
   */
  #connect(settings: Settings, report: Report, options: ConnectOptions): ServiceClient {
    const client = connect(settings, report, options);
    const { put } = this.#service;
    const { owner } = settings;
    const checkedBy =
      (as: WithToken): WithToken =>
      (call, signal) =>
        as((token) => {
          if (owner && token && !token.startsWith(`${owner}.`))
            this.#world.fault(`a call of ${owner} with the token ${token}`);
          return call(token);
        }, signal);
    const withToken = checkedBy(client.auth.withToken);
    const calls = settings.batchPath
      ? createCalls(settings, withToken, options)
      : this.#scriptedCalls(withToken);
    const { commit, cancel } = calls;
    const checked: Calls = {
      ...calls,
      ...(commit && { commit: (...asked) => this.#commit(commit, asked) }),
      ...(cancel && { cancel: (session, signal, as) => cancel(session, signal, as && checkedBy(as)) }),
    };
    const { hash: algorithm, workerUrl } = settings;
    // Shorter times let a simulation end sooner.
    const pool = new HashPool({ algorithm, workerUrl, slowMs: SLOW_MS });
    const close = (): void => {
      pool.close();
      client.close();
    };
    return { ...client, calls: checked, pool, put: (...asked) => this.#counted(put, ...asked), close };
  }

  #scriptedCalls(withToken: WithToken): Calls {
    const { calls } = this.#service;
    return {
      openSession: (input, signal) => withToken(() => calls.openSession(input, signal), signal),
      presign: (session, chunks, signal) => withToken(() => calls.presign(session, chunks, signal), signal),
      commit: (session, proof, signal, options) =>
        withToken(() => calls.commit(session, proof, signal, options), signal),
      cancel: (session, signal, as = withToken) => as(() => calls.cancel(session, signal), signal),
    };
  }

  /** Sends a PUT, and checks that no more run than slots are allowed. */
  async #counted(put: Put, ...asked: Parameters<Put>): Promise<void> {
    const { host } = new URL(asked[0].url);
    const putCount = (this.#putCounts.get(host) ?? 0) + 1;
    this.#putCounts.set(host, putCount);
    if (putCount > this.#mostSlots) this.#world.fault(`${putCount} PUTs to ${host} at once`);
    try {
      await put(...asked);
    } finally {
      this.#putCounts.set(host, (this.#putCounts.get(host) ?? 0) - 1);
    }
  }

  /** Notes a commit that was sent and has no answer, because it was lost or aborted: its upload may be complete. */
  async #commit(
    commit: Commit,
    [session, proof, signal, options]: Parameters<Commit>,
  ): Promise<CommitAnswer> {
    let isSent = false;
    const onSend = async (): Promise<void> => {
      await options?.onSend?.();
      isSent = true;
    };
    try {
      return await commit(session, proof, signal, { ...options, onSend });
    } catch (error) {
      const { status = 0 } = error instanceof UploaderError ? error : {};
      if (isSent && !(status >= 400 && status < 500)) this.#world.service.noteUnanswered(session);
      throw error;
    }
  }

  #checkRunning(): void {
    const running = this.uploader.snapshot.files.filter(({ phase }) => isActive(phase));
    // One more may have been moved to the front.
    if (running.length > MOST_RUNNING_PER_SLOT * this.#mostSlots + 1)
      this.#world.fault(`${running.length} uploads run at once`);
  }

  async #serve(): Promise<void> {
    const { random } = this.#world;
    for (;;) {
      const request: Request = await this.#service.nextRequest();
      const codes = FAULTS[request.kind];
      const [code, status] = codes[Math.floor(random() * codes.length)] ?? ['network' as const];
      const isRefused = random() < this.#world.faultRate;
      const act = (): void => {
        if (!navigator.onLine) request.refuse(new UploaderError('offline', 'a fault'));
        else if (isRefused)
          request.refuse(new UploaderError(code, 'a fault', { ...(status && { status }), retryAfterMs: 1 }));
        else this.#world.service.answer(request, (hashes) => this.#service.tickets(hashes));
      };
      if (random() < 0.5) act();
      else setTimeout(act, random() * 3);
    }
  }

  #look(name: string, detail: { readonly id: string; readonly [field: string]: unknown }): void {
    const { id } = detail;
    const fault = (what: string): void => this.#world.fault(`${what}: ${name} ${JSON.stringify(detail)}`);
    if (name === 'file-added') this.#owners.set(id, this.input.owner);
    if (this.#removed.has(id)) fault('an event after file-removed');
    if (name === 'file-removed') this.#removed.add(id);
    if (name === 'upload-canceled') {
      this.#sentBytes.delete(id);
      const canceled = this.uploader.snapshot.files.find((file) => file.id === id);
      if (canceled) this.#world.canceled.add(canceled.relativePath);
    }
    if (name === 'upload-progress') {
      const { sentBytes, sizeBytes } = detail as unknown as { sentBytes: number; sizeBytes: number };
      if (sentBytes < (this.#sentBytes.get(id) ?? 0)) fault('progress went back');
      for (const field of ['sentBytes', 'storedBytes', 'hashedBytes', 'skippedBytes']) {
        const bytes = detail[field];
        if (typeof bytes === 'number' && !(bytes >= 0 && bytes <= sizeBytes))
          fault(`${field} is out of range`);
      }
      this.#sentBytes.set(id, sentBytes);
    }
    if (name === 'upload-completed') this.#onCompleted(detail as unknown as Completed);
    if (name === 'upload-failed' && !ERROR_CODES.includes(detail.code as ErrorCode)) fault('no code of ours');
  }
  #onCompleted({ relativePath, chunks }: Completed): void {
    const { completed, service } = this.#world;
    const hashes = chunks.map(({ hash }) => hash);
    if (!service.has(relativePath, hashes)) this.#world.fault(`${relativePath} is done, but not complete`);
    completed.push({ relativePath, hashes });
  }
}

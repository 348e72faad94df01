// A tab of a simulation: an engine with a scripted service that may refuse any call, and checks of the changes that it reports.

import type { Report } from '../../src/core/changes.ts';
import type { Settings } from '../../src/core/config.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/core/error-codes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { Calls, WithToken } from '../../src/core/types.ts';
import { type ConnectOptions, connect, type ServiceClient } from '../../src/engine/connection.ts';
import { type SettingsInput, Uploader, type UploaderOptions } from '../../src/engine/uploader.ts';
import { fileOf } from './bytes.ts';
import { settled } from './collect.ts';
import type { World } from './model.ts';
import { type Kind, type Request, ScriptedService } from './scripted-service.ts';

export const CHUNK_SIZES = [1000, 2000, 100_000];
/** Smallest size of chunks. After a 413, chunks are halved until then. */
export const MIN_CHUNK_BYTES = 400;
export const FILES: readonly File[] = [
  fileOf(1, 0, 'empty.bin'),
  fileOf(2, 700, 'small.bin'),
  fileOf(3, 2500, 'three.bin'),
  fileOf(3, 2500, 'equal.bin'),
  fileOf(4, 6000, 'six.bin'),
];

/** All sizes that chunks may have. A file of one chunk is halved from its own size. */
export const ALL_SIZES = new Set([MIN_CHUNK_BYTES]);
for (const size of [...CHUNK_SIZES, ...FILES.map((file) => file.size)])
  for (let bytes = size; bytes > MIN_CHUNK_BYTES; bytes = Math.ceil(bytes / 2)) ALL_SIZES.add(bytes);

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

/** Returns the file with reads that take as many rounds as `rounds()` says. */
function slowly(file: File, rounds: () => number): File {
  const slow = new File([file], file.name, { lastModified: file.lastModified });
  slow.slice = (...range) => {
    const part = file.slice(...range);
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

export interface Completed {
  readonly name: string;
  readonly relativePath: string;
  readonly chunks: readonly { readonly hash: string }[];
}

/** One tab: an engine with the shared store, and checks of the changes that the engine reports. */
export class Tab {
  readonly uploader: Uploader;
  readonly #world: World;
  readonly #service = new ScriptedService();
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
    Object.assign(this.#service, { stored: world.stored });
    this.uploader = new Uploader(this.input, {
      policy: { attempts: 3, baseMs: 0, capMs: 0 },
      store: world.store,
      page,
      connect: (...given) => this.#connect(...given),
    });
    this.uploader.onChange(({ name, detail }) => {
      world.changeCount += 1;
      if ('id' in detail) this.#look(name, detail as { id: string });
    });
    void this.#serve();
  }

  /** Gives the settings a `getToken`, or takes it away. */
  setTokens(hasTokens: boolean): void {
    const getToken = this.#world.auth === 'token' && hasTokens ? () => this.#getToken() : undefined;
    this.input = { ...this.input, getToken };
  }

  async addFiles(files: readonly File[]): Promise<void> {
    await this.uploader.addFiles(files.map((file) => slowly(file, () => this.#world.readRounds)));
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

  /** Opens a client whose calls go to the scripted service, with the token of the real sign-in session. */
  #connect(settings: Settings, report: Report, options: ConnectOptions): ServiceClient {
    const client = connect(settings, report, options);
    const { calls, put } = this.#service;
    const { owner } = settings;
    const authorized = <T>(call: () => Promise<T>, signal: AbortSignal, as: WithToken): Promise<T> =>
      as((token) => {
        if (owner && token && !token.startsWith(`${owner}.`))
          this.#world.fault(`a call of ${owner} with the token ${token}`);
        return call();
      }, signal);
    const { withToken } = client.auth;
    const checked: Calls = {
      openSession: (input, signal) => authorized(() => calls.openSession(input, signal), signal, withToken),
      presign: (session, chunks, signal) =>
        authorized(() => calls.presign(session, chunks, signal), signal, withToken),
      commit: (session, proof, signal, options) =>
        authorized(() => calls.commit(session, proof, signal, options), signal, withToken),
      cancel: (session, signal, as = withToken) =>
        authorized(() => calls.cancel(session, signal), signal, as),
    };
    return { ...client, calls: checked, put };
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
        else {
          if (request.kind === 'put') (request as Request<'put'>).tell(500);
          request.answer();
        }
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
    if (name === 'upload-canceled') this.#sentBytes.delete(id);
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
    if (name === 'upload-completed') this.#world.completed.push(detail as unknown as Completed);
    if (name === 'upload-failed' && !ERROR_CODES.includes(detail.code as ErrorCode)) fault('no code of ours');
  }
}

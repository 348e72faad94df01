// The requests that the checks share. Each step runs once, when the first check needs it.

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { resolveUrl } from '../core/addresses.ts';
import { isBelow } from '../service/http.ts';
import { isFields, readPauseMs, SESSION_HEADER, sessionBody } from '../service/wire.ts';
import { listIn, openBatch } from './batches.ts';
import type { Dialect, Entry, Piece, Upload } from './dialect.ts';
import { answerFor, type Exchange, exchange, type OutgoingRequest } from './exchange.ts';
import { describe, isOk, Skip } from './finding.ts';
import { negotiate } from './negotiate.ts';
import type { Options } from './options.ts';
import { Redactor } from './redactor.ts';
import { FoundSettings } from './settings.ts';
import { type Address, targetOf } from './target.ts';

export type Operation = 'open' | 'presign' | 'commit' | 'cancel' | 'batch';
export const OPERATIONS: readonly Operation[] = ['open', 'presign', 'commit', 'cancel', 'batch'];

/** The upload of a file of two chunks. Ends with the first step that failed. */
export interface Round {
  readonly upload: Upload;
  readonly puts: readonly Exchange[];
  /** The presign request for the same chunks after their upload. */
  readonly secondPresign: Exchange;
  /** The responses to the commit: those that accept it (202), then the final one. Empty if there is no commit. */
  readonly commits: readonly Exchange[];
}

interface CallOptions {
  readonly session?: string | undefined;
  /** JSON, or a text that is sent as it is. */
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly origin?: string | undefined;
}

const SMALL_PART_BYTES = 1000;
/** S3 requires this size of all parts but the last. */
const S3_PART_BYTES = 5 * 2 ** 20;
const LAST_PART_BYTES = 500;
const LONGEST_PAUSE_MS = 10_000;
const ABSENT_STATUSES: readonly number[] = [404, 405, 501];

export class Context {
  readonly options: Options;
  readonly settings: FoundSettings;
  readonly redactor: Redactor;
  /** Aborts when the time of the run is over. */
  readonly signal: AbortSignal;
  /** All responses of the service with the status 429 or 503. */
  readonly slowDowns: Exchange[] = [];
  /** The response to the first presign request, sent as the uploader does by default. */
  firstPresign: Exchange | undefined;
  partBytes = SMALL_PART_BYTES;
  /** Sessions that are canceled at the end. */
  readonly sessionsToCancel: string[] = [];
  readonly #once = new Map<string, Promise<unknown>>();

  constructor(options: Options) {
    this.options = options;
    this.settings = new FoundSettings(options);
    this.redactor = new Redactor(options.token, options.secondToken);
    this.signal = AbortSignal.timeout(options.limitMs);
  }

  /** Runs a step at its first call, and returns its result at each call. */
  once<T>(key: string, step: () => Promise<T>): Promise<T> {
    const runningStep = this.#once.get(key) as Promise<T> | undefined;
    const result = runningStep ?? step();
    this.#once.set(key, result);
    return result;
  }

  /** Throws `Skip` if the service does not have the operation. */
  urlOf(operation: Operation): string {
    const { baseUrl, sessionPath, chunksPath, commitPath, cancelPath, batchPath } = this.options;
    const path = {
      ...{ open: sessionPath, presign: chunksPath },
      ...{ commit: commitPath, cancel: cancelPath, batch: batchPath },
    }[operation];
    if (path === undefined) throw new Skip(`there is no ${operation} operation`);
    const url = resolveUrl(baseUrl, path);
    // Requests below the base URL have the token.
    if (!isBelow(baseUrl, url)) throw new Skip(`${path} is not below the base URL`);
    return url.href;
  }

  methodOf = (operation: Operation): string => (operation === 'cancel' ? 'DELETE' : 'POST');

  /** Names of the request headers that need a preflight. */
  headerNames(operation: Operation): string[] {
    const names = operation === 'cancel' ? [] : ['content-type'];
    if (this.options.token !== undefined) names.push(this.options.authHeader.toLowerCase());
    return operation === 'open' || operation === 'batch' ? names : [...names, SESSION_HEADER];
  }

  async call(operation: Operation, callOptions: CallOptions = {}): Promise<Exchange> {
    const { session, body, token, origin } = { ...this.options, ...callOptions };
    const { authHeader, authScheme } = this.options;
    const credentials = authScheme ? `${authScheme} ${token}` : String(token);
    const headers = {
      accept: 'application/json',
      ...(origin && { origin }),
      ...(token !== undefined && { [authHeader.toLowerCase()]: credentials }),
      ...(session !== undefined && { [SESSION_HEADER]: session }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const request = { method: this.methodOf(operation), url: this.urlOf(operation), headers, body: text };
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.#send(request);
      const isSlow = response.status === 429 || response.status === 503;
      if (!isSlow) return response;
      this.slowDowns.push(response);
      if (attempt === 3) return response;
      await this.#pause(response);
    }
  }

  /** `target` is the address of the storage. */
  preflight(
    url: string,
    method: string,
    names: readonly string[],
    origin = this.options.origin,
    target?: Address,
  ): Promise<Exchange> {
    if (origin === undefined) throw new Skip('pass --origin to check CORS');
    const headerList = [...names].sort().join(',');
    const headers = {
      origin,
      'access-control-request-method': method,
      ...(headerList && { 'access-control-request-headers': headerList }),
    };
    return this.once(`preflight ${method} ${url} ${origin}`, () =>
      this.#send({ method: 'OPTIONS', url, headers }, target),
    );
  }

  /**
   * Throws `Skip` if the service does not have the operation: if its path was not given, and it responds with 404, 405 or 501 to a
   * correct request, or to a batch with anything but a 2xx that has answers, because this path may be one of another operation.
   */
  async require(operation: Operation): Promise<void> {
    this.urlOf(operation);
    if (this.options.requiredOperations.includes(operation)) return;
    if (!(await this.#isAbsent(operation))) return;
    // Something else may have responded, or the operation with mistakes.
    const response = operation === 'batch' ? ` (${describe(await this.batch())})` : '';
    throw new Skip(`there is no ${operation} operation${response}; set --${operation}-path if there is one`);
  }

  async #isAbsent(operation: Operation): Promise<boolean> {
    if (operation === 'batch') {
      const batchResponse = await this.batch();
      return !isOk(batchResponse) || listIn(batchResponse) === undefined;
    }
    const response = operation === 'commit' ? (await this.round()).commits[0] : await this.cancelOnce();
    return !response || ABSENT_STATUSES.includes(response.status);
  }

  /** Throws `Skip` if the service has no batches, or if one of a single file fails: `batch-status` says why. */
  async requireBatch(): Promise<void> {
    await this.require('batch');
    const batchResponse = await this.batch();
    if (batchResponse.status !== 200 || !listIn(batchResponse)) throw new Skip('a batch of one file fails');
  }

  /** The response to the first batch, which opens a file. */
  batch = (): Promise<Exchange> =>
    this.once('file in a batch', async () => {
      const dialect = await this.dialect();
      const file = { ...this.sessionBody(), ...dialect.presignBody([this.piece(SMALL_PART_BYTES)]) };
      return openBatch(this, [file]);
    });

  /** The response to the first cancellation. */
  cancelOnce = (): Promise<Exchange> =>
    this.once('canceled', async () => {
      const dialect = await this.dialect();
      return this.call('cancel', { session: dialect.sessionOf(await this.open()) });
    });

  sessionBody(change: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    const { parentId, fields } = this.options;
    const fileName = `conform-${randomBytes(6).toString('hex')}.bin`;
    return { ...fields, ...sessionBody({ parentId, fileName, fileSize: SMALL_PART_BYTES }), ...change };
  }

  /** The first session. */
  openOnce = (): Promise<Exchange> => this.once('opened', () => this.open());

  async open(change: Readonly<Record<string, unknown>> = {}): Promise<Exchange> {
    return this.call('open', { body: this.sessionBody(change) });
  }

  /** The alternatives of the interface that the service uses. Throws `Skip` if no presign request succeeds. */
  dialect = (): Promise<Dialect> =>
    this.once('dialect', async () => {
      const dialect = await negotiate(this);
      if (!dialect) throw new Skip('no presign request succeeded');
      return dialect;
    });

  piece(sizeBytes: number): Piece {
    const bytes = randomBytes(sizeBytes);
    // For BLAKE3, which Node does not have, the hash is random, and the bytes are not sent.
    const { hash } = this.options;
    const digest = hash === 'blake3' ? randomBytes(32) : createHash('sha256').update(bytes).digest();
    return { bytes, sizeBytes, hash: digest.toString('hex') };
  }

  /** Opens a session for a file of these sizes, and resolves with the value of its header. */
  async session(fileBytes: number): Promise<string> {
    const dialect = await this.dialect();
    const response = await this.open({ file_size: fileBytes });
    const session = isOk(response) ? dialect.sessionOf(response) : undefined;
    if (session === undefined) throw new Skip(`no session: ${describe(response)}`);
    this.sessionsToCancel.push(session);
    return session;
  }

  async presign(session: string, pieces: readonly Piece[], callOptions: CallOptions = {}): Promise<Exchange> {
    const dialect = await this.dialect();
    return this.call('presign', { session, body: dialect.presignBody(pieces), ...callOptions });
  }

  /** Opens a session and presigns new chunks of these sizes. */
  async upload(...sizes: number[]): Promise<Upload> {
    return this.uploadOf(sizes.map((size) => this.piece(size)));
  }

  async uploadOf(pieces: readonly Piece[]): Promise<Upload> {
    const session = await this.session(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0));
    const presignResponse = await this.presign(session, pieces);
    if (!isOk(presignResponse)) throw new Skip(`presigning failed: ${describe(presignResponse)}`);
    const entries = await this.entriesOf(presignResponse, pieces);
    return { session, pieces, entries, presignResponse };
  }

  async entriesOf(response: Exchange, pieces: readonly Piece[]): Promise<(Entry | undefined)[]> {
    return (await this.dialect()).entriesOf(response, pieces);
  }

  /** Sends a chunk as a page does. `change` replaces parts of the request. */
  async put(
    entry: Entry | undefined,
    bytes: Uint8Array,
    change: { url?: string; method?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Exchange> {
    if (this.options.hash === 'blake3') throw new Skip('bytes are not sent for BLAKE3');
    if (entry?.url === undefined) throw new Skip('there is no upload_url');
    const { origin } = this.options;
    const url = change.url ?? entry.url;
    const { target, method, headers: ticketHeaders } = await targetOf(url, this.options, entry.fields);
    const headers = { ...ticketHeaders, ...(origin && { origin }), ...change.headers };
    return this.#send({ method: change.method ?? method, url, headers, body: bytes }, target);
  }

  /** Resolves after `ms`. Rejects when the time of the run is over. */
  wait = (ms: number): Promise<void> => wait(ms, undefined, { signal: this.signal });

  /** Waits as long as the response says, also if a page could not read that. */
  #pause(response: Exchange): Promise<void> {
    return this.wait(readPauseMs(answerFor(undefined, response), LONGEST_PAUSE_MS) || 1000);
  }

  async #send(request: Omit<OutgoingRequest, 'signal' | 'target'>, target?: Address): Promise<Exchange> {
    const response = await exchange({ ...request, target, signal: this.signal });
    this.redactor.learn(response);
    return response;
  }

  async commit(
    upload: Upload,
    change: Readonly<Record<string, unknown>> = {},
    callOptions: CallOptions = {},
  ): Promise<Exchange> {
    const dialect = await this.dialect();
    const body = { ...dialect.commitBody(upload), ...change };
    return this.call('commit', { session: upload.session, body, ...callOptions });
  }

  /** Commits until the service has completed the file. Resolves with all responses. */
  async commitFully(upload: Upload): Promise<Exchange[]> {
    const endMs = performance.now() + this.options.waitMs;
    const responses = [await this.commit(upload)];
    for (
      let response = responses[0];
      response && isPending(response) && performance.now() < endMs;
      response = responses.at(-1)
    ) {
      await this.#pause(response);
      responses.push(await this.commit(upload));
    }
    return responses;
  }

  /** Uploads a file of two chunks. If the commit refuses small chunks, the first chunk gets 5 MiB. */
  round = (): Promise<Round> =>
    this.once('round', async () => {
      const smallRound = await this.#roundOf(SMALL_PART_BYTES);
      const [firstCommit] = smallRound.commits;
      const isRefused = ({ status }: Exchange): boolean => [400, 413, 422].includes(status);
      if (!firstCommit || !isRefused(firstCommit)) return smallRound;
      const largeRound = await this.#roundOf(S3_PART_BYTES);
      const lastCommit = largeRound.commits.at(-1);
      if (!lastCommit || isRefused(lastCommit)) return smallRound;
      // The service accepts chunks of this size, and something else fails.
      if (!isOk(lastCommit)) return largeRound;
      this.partBytes = S3_PART_BYTES;
      this.settings.setProfile('minChunkSize', String(S3_PART_BYTES));
      return largeRound;
    });

  async #roundOf(partBytes: number): Promise<Round> {
    const upload = await this.upload(partBytes, LAST_PART_BYTES);
    const puts: Exchange[] = [];
    for (const [index, piece] of upload.pieces.entries())
      puts.push(await this.put(upload.entries[index], piece.bytes));
    const secondPresign = await this.presign(upload.session, upload.pieces);
    if (this.options.commitPath === undefined) return { upload, puts, secondPresign, commits: [] };
    return { upload, puts, secondPresign, commits: await this.commitFully(upload) };
  }

  /** The completed upload. Throws `Skip` if the commit failed or does not exist. */
  async committedRound(): Promise<Round & { readonly commit: Exchange }> {
    await this.require('commit');
    const round = await this.round();
    const commit = round.commits.at(-1);
    if (!commit) throw new Skip('there is no commit operation');
    if (!isOk(commit)) throw new Skip('the commit of a correct upload failed');
    return { ...round, commit };
  }

  /** A session with one chunk that is stored and not committed. Each call creates a new one. */
  async storedUpload(sizeBytes = LAST_PART_BYTES): Promise<Upload> {
    await this.committedRound();
    const upload = await this.upload(sizeBytes);
    const putResponse = await this.put(upload.entries[0], upload.pieces[0]?.bytes ?? new Uint8Array());
    if (!isOk(putResponse)) throw new Skip(`the chunk was not stored: ${describe(putResponse)}`);
    return upload;
  }

  /** Cancels the sessions of the checks. */
  async cleanUp(): Promise<void> {
    const hasCancel = await this.require('cancel').then(
      () => true,
      () => false,
    );
    if (hasCancel) for (const session of this.sessionsToCancel) await this.call('cancel', { session });
  }
}

/** True if the service is still completing the file. */
export const isPending = ({ status, json }: Exchange): boolean =>
  status === 202 || stateOf(json) !== undefined;

/** Returns the field and the word that say that the file is not complete yet (U10a). */
export function stateOf(json: unknown): readonly [string, string] | undefined {
  if (!isFields(json)) return undefined;
  const field = ['state', 'status'].find((name) =>
    /^(processing|pending|queued|scanning|running)$/i.test(String(json[name])),
  );
  return field === undefined ? undefined : [field, String(json[field])];
}

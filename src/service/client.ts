// The calls to the service. Each call sends one request with a token and validates the response. Calls are not retried here.

import { resolveUrl } from '../core/addresses.ts';
import type { Post } from '../core/auth-options.ts';
import { UploaderError } from '../core/errors.ts';
import type { Settings } from '../core/settings-table.ts';
import type { Calls, HashOfChunk, Session, SessionInput, Ticket, WithToken } from '../core/types.ts';
import { abortable, delayAbort, whenSettled } from '../core/wait.ts';
import {
  type Answer,
  createSend,
  exchange,
  type HttpOptions,
  isBelow,
  isSafeUrl,
  type ServiceRequest,
} from './http.ts';
import { createLateBatches } from './late-batches.ts';
import { askProfile, fillProfile } from './profile.ts';
import {
  commitBody,
  isFromElsewhere,
  meaningOfAnswer,
  presignBody,
  readCommitted,
  readMissing,
  readPauseMs,
  readRefusal,
  readSession,
  readTickets,
  SESSION_HEADER,
  sessionBody,
  warnOfPath,
} from './wire.ts';

/** Services may assemble the file before they answer a commit: five minutes instead of 30 seconds. */
const COMMIT_PATIENCE = 10;
/** Time in which an aborted request may still open a session, and in which this session is canceled, in milliseconds. */
const LATE_MS = 10_000;

const isOk = ({ status }: Answer): boolean => status >= 200 && status < 300;

/**
 * Creates the upload operations. An operation rejects with the signal's reason, or with one of these `UploaderError`s:
 * - `token-rejected` (401; `cause` has the header `WWW-Authenticate` if the page can read the header),
 * - `forbidden` (401 with `insufficient_scope`, 403, and 404 or 410 when opening a session),
 * - `session-expired` (404, 410),
 * - `name-taken` (409 when opening a session or to the commit), `file-too-large` (413 when opening a session),
 * - `upload-refused` (every other 4xx, with its `status`): a retry would fail again,
 * - `rate-limited` (429, 503) and `service-failed` (408, other 5xx), with `retryAfterMs` if the delay is known,
 * - `bad-response`, `network`, `offline`, `timeout`, `bad-config`.
 */
export function createCalls(settings: Settings, withToken: WithToken, options: HttpOptions = {}): Calls {
  const profile = fillProfile(settings.profile);
  const send = createSend(settings, options);
  const { batchPath, commitPath, cancelPath } = settings;
  const batches =
    batchPath && canBatch(settings)
      ? createLateBatches({
          send,
          path: batchPath,
          commitPatience: COMMIT_PATIENCE,
          isFromElsewhere,
          meaningOf: (answer) => meaningOfAnswer(answer, profile),
          sessionOf: (answer) => readSession(answer, profile).header,
        })
      : undefined;
  const cancelAs = cancelPath ? createCancel(cancelPath) : undefined;
  /** Folder and name of each session, by its header. */
  const places = new Map<string, string>();
  /** Tickets that came with a session. */
  const earlyTickets = new WeakMap<Session, ReadonlyMap<string, Ticket>>();
  /** What still ends sessions that are not needed, by folder and name. The service may refuse the next session until then. */
  const endings = new Map<string, Promise<unknown>>();
  const noteEnding = (place: string, ending: Promise<unknown>): void => {
    const allEndings = Promise.allSettled([endings.get(place), ending]).then(() => {
      if (endings.get(place) === allEndings) endings.delete(place);
    });
    endings.set(place, allEndings);
  };
  const inSession = (session: Session): Record<string, string> => ({ [SESSION_HEADER]: session.header });

  return {
    openSession: (input, signal) => {
      const place = JSON.stringify([input.parentId, input.fileName]);
      return withToken(async (token) => {
        const waitForEndings = (): Promise<unknown> =>
          abortable(endings.get(place) ?? Promise.resolve(), signal);
        if (input.firstChunks) await batches?.whenLoaded;
        await waitForEndings();
        const chunks = batches?.open?.gathers ? await hashFirstChunks(input, signal) : undefined;
        if (chunks) await waitForEndings();
        signal.throwIfAborted();
        const endController = new AbortController();
        const sentSignal = cancelAs ? delayAbort(signal, LATE_MS, endController.signal) : signal;
        const pendingSession = openSession(input, chunks, token, signal, sentSignal);
        const pendingPlace = pendingSession.then(({ header }) => places.set(header, place));
        void whenSettled(pendingPlace).then(() => endController.abort());
        try {
          return await abortable(pendingSession, signal);
        } catch (error) {
          // The request may have reached the service when it was aborted.
          const cancelLate = (session: Session): Promise<void> | undefined =>
            cancelAs?.(session, AbortSignal.timeout(LATE_MS), (call) => call(token));
          if (signal.aborted) noteEnding(place, pendingSession.then(cancelLate));
          throw error;
        }
      }, signal);
    },

    presign: (session, chunks, signal) =>
      withToken(async (token) => {
        const request: ServiceRequest = {
          method: 'POST',
          path: settings.chunksPath,
          token,
          headers: inSession(session),
          body: presignBody(chunks, profile),
          // The response has a URL for each chunk. A URL with a signed security token has about 3 KiB.
          maxBytes: 2 ** 20 + chunks.length * 16_384,
          signal,
        };
        const answer = await send(request);
        if (!isOk(answer)) throw readRefusal(answer, 'presign', profile);
        return readTickets(
          answer,
          chunks.map(({ hash }) => hash),
          profile,
          settings,
        );
      }, signal),

    ...(batches && {
      isBatching: () => batches.open?.works === true,
      takeTickets: (session, chunks) => {
        const tickets = earlyTickets.get(session);
        // They answer once: the next caller needs new ones.
        earlyTickets.delete(session);
        return chunks.every(({ hash }) => tickets?.has(hash)) ? tickets : undefined;
      },
    }),
    ...(commitPath && { commit: createCommit(commitPath) }),
    ...(cancelAs && {
      cancel: (session, signal, as) => {
        const cancellation = cancelAs(session, signal, as);
        const place = places.get(session.header);
        places.delete(session.header);
        if (place !== undefined) noteEnding(place, cancellation);
        return cancellation;
      },
    }),
  };

  async function openSession(
    input: SessionInput,
    chunks: readonly HashOfChunk[] | undefined,
    token: string | undefined,
    signal: AbortSignal,
    sentSignal: AbortSignal,
  ): Promise<Session> {
    const { sessionPath: path } = settings;
    const body = sessionBody(input, profile);
    const sendAlone = (): Promise<Answer> => send({ method: 'POST', path, token, body, signal: sentSignal });
    const fields = chunks && withChunks(body, presignBody(chunks, profile));
    const hashes = chunks?.map(({ hash }) => hash) ?? [];
    const answer = await (batches?.open && input.firstChunks
      ? batches.open.ask({ fields, token, signal, sentSignal, sendAlone })
      : sendAlone());
    if (!isOk(answer)) throw readRefusal(answer, 'open', profile);
    const session = readSession(answer, profile);
    if (fields && Object.hasOwn(Object(answer.body), 'chunks')) {
      try {
        earlyTickets.set(session, readTickets(answer, hashes, profile, settings));
      } catch {
        // A presign request tells what is wrong: the session is open, and must not be lost.
      }
    }
    return session;
  }

  function createCommit(path: string): NonNullable<Calls['commit']> {
    return (session, proof, signal, { patience = 1, onSend } = {}) =>
      withToken(async (token) => {
        const body = commitBody(proof, profile);
        const headers = inSession(session);
        const request = {
          method: 'POST',
          path,
          token,
          headers,
          body,
          patience: COMMIT_PATIENCE * patience,
          signal,
        } as const;
        const sendAlone = async (): Promise<Answer> => {
          await onSend?.();
          return send(request);
        };
        const fields = { session: session.header, ...body };
        // A large file takes the service longer, and so does one whose commit has timed out: others would wait for it.
        const isShort = proof.hashes.length <= 1 && patience === 1;
        const answer = await (batches?.commit && isShort
          ? batches.commit.ask({ fields, token, signal, onSend, sendAlone })
          : sendAlone());
        if (isPending(answer)) return { missing: [], pending: { retryAfterMs: readPauseMs(answer) } };
        if (isOk(answer)) {
          places.delete(session.header);
          const commitResponse = readCommitted(answer);
          return commitResponse === undefined ? { missing: [] } : { missing: [], body: commitResponse };
        }
        const missingHashes = answer.status === 409 ? readMissing(answer, proof.hashes, profile) : undefined;
        if (missingHashes) return { missing: missingHashes };
        throw readRefusal(answer, 'commit', profile);
      }, signal);
  }

  function isPending({ status, body }: Answer): boolean {
    const ask = (): boolean => profile.commitPending?.({ status, body }) === true;
    return status === 202 || askProfile('commitPending', ask);
  }

  function createCancel(path: string): NonNullable<Calls['cancel']> {
    return (session, signal, as = withToken) =>
      as(async (token) => {
        const answer = await send({ method: 'DELETE', path, token, headers: inSession(session), signal });
        const isGone = answer.status === 404 || answer.status === 410;
        if (isGone) warnOfPath(answer, 'cancel');
        if (!isOk(answer) && !isGone) throw readRefusal(answer, 'cancel', profile);
      }, signal);
  }
}

/**
 * Returns true if the calls of small files may share requests: each answer has to be enough for its file, and its chunks are known
 * before the service could choose their size.
 */
const canBatch = ({ commitPath, profile }: Settings): boolean =>
  Boolean(commitPath) && profile.chunkSize === undefined;

/** Returns the fields of a file in a batch; `undefined` if fields of the page (`sessionFields`) have the same names. */
const withChunks = (body: object, chunks: object): object | undefined =>
  Object.keys(chunks).some((name) => Object.hasOwn(body, name)) ? undefined : { ...body, ...chunks };

/**
 * Resolves with the first chunks; with `undefined` if their hashes are not needed here, or not known. Rejects if the file cannot be
 * hashed: a session would be of no use.
 */
async function hashFirstChunks(
  { firstChunks }: SessionInput,
  signal: AbortSignal,
): Promise<readonly HashOfChunk[] | undefined> {
  if (!firstChunks) return undefined;
  try {
    return await abortable(firstChunks(), signal);
  } catch (error) {
    signal.throwIfAborted();
    // Otherwise, the run no longer needs these hashes.
    if (error instanceof UploaderError) throw error;
    return undefined;
  }
}

/** Creates a `Post` that adds no token. If `headers` contains the token, only URLs below the base URL are allowed. */
export function createPost(
  settings: Pick<Settings, 'baseUrl' | 'authHeader'>,
  { timeoutMs = 30_000 }: HttpOptions = {},
): Post {
  return async (path, body, { credentials, signal, headers = {} }) => {
    const url = resolveUrl(settings.baseUrl, path);
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    const isPrivileged = names.includes('authorization') || names.includes(settings.authHeader.toLowerCase());
    // A path must stay below the base URL. An absolute URL comes from the page's settings, so it may have another origin.
    const isFree = path.includes('://') && !isPrivileged;
    if (!(isFree ? isSafeUrl(settings.baseUrl, url) : isBelow(settings.baseUrl, url))) {
      throw new UploaderError(
        'bad-config',
        `${path} is not allowed. Use a path below base-url, or an https URL`,
      );
    }
    const init = { method: 'POST', headers: new Headers(headers), credentials };
    const answer = await exchange(url, init, { body, timeoutMs, signal });
    const retryAfterMs = readPauseMs(answer, Number.POSITIVE_INFINITY);
    const wwwAuthenticate = answer.header('WWW-Authenticate');
    return {
      status: answer.status,
      body: answer.body,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(wwwAuthenticate === null ? {} : { wwwAuthenticate }),
    };
  };
}

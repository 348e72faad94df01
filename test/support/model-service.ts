// The service of a simulation, which all of its tabs share, with two storages. Storages may be silent, sessions may be lost, and
// responses to commits, too.

import { UploaderError } from '../../src/core/errors.ts';
import type { Session, Ticket } from '../../src/core/types.ts';
import { sha256 } from './bytes.ts';
import type { Kind, Request } from './scripted-service.ts';

/** Bytes of a chunk that are sent before a network that changes all the time changes again. */
const SENT_BEFORE_CHANGE = 500;

/** What the service knows of a session. */
interface Opened {
  readonly path: string;
  /** Number of chunks that were stored in this session, and not before. */
  storedCount: number;
  isGone: boolean;
  isComplete: boolean;
  /** True if the uploader has no answer to one of its commits. */
  isUnanswered: boolean;
}

/** A file that the service has. */
interface Stored {
  readonly path: string;
  readonly hashes: readonly string[];
}

const sessionGone = (status: number, hasDebugInfo: boolean): UploaderError =>
  new UploaderError('session-expired', 'a fault', { status, ...(hasDebugInfo && { debugInfo: 'gone' }) });

export class ModelService {
  /** Hashes of stored chunks. */
  readonly stored = new Set<string>();
  readonly files: Stored[] = [];
  /** Number of PUTs of each file, by its path. */
  readonly putCounts = new Map<string, number>();
  /** Number of calls that are refused as if their session were gone. */
  forgetfulCount = 0;
  /** Number of chunks after which a session is gone. */
  sessionLifeChunks = Number.POSITIVE_INFINITY;
  /** What happens to the first response to the commit of a session. `lost-with-session`: the session is gone, too. */
  commitAnswer: 'arrives' | 'lost' | 'lost-with-session' = 'arrives';
  /** Number of PUTs during which the network will change, for files whose path `isCut` accepts. */
  cutCount = 0;
  isCut: (path: string) => boolean = () => true;
  readonly #random: () => number;
  readonly #isOnSecondStorage: (path: string) => boolean;
  readonly #changeNetwork: () => void;
  readonly #sessions = new Map<string, Opened>();
  readonly #bodies = new Map<string, Blob>();
  readonly #held = new Set<Request<'put'>>();
  #isSilent = false;
  #openedCount = 0;

  constructor(random: () => number, isOnSecondStorage: (path: string) => boolean, changeNetwork: () => void) {
    this.#random = random;
    this.#isOnSecondStorage = isOnSecondStorage;
    this.#changeNetwork = changeNetwork;
  }

  /** True while the second storage accepts PUTs and never responds. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  set isSilent(isSilent: boolean) {
    this.#isSilent = isSilent;
    if (isSilent) return;
    for (const request of this.#held) this.#store(request);
    this.#held.clear();
  }

  /** Ends the PUTs to the silent storage, as the uploader does when its patience is over. */
  stall(): void {
    for (const request of this.#held) request.refuse(new UploaderError('upload-stalled', 'a fault'));
    this.#held.clear();
  }

  /** Loses about half of the sessions for good. */
  loseSessions(): void {
    for (const opened of this.#sessions.values()) opened.isGone ||= this.#random() < 0.5;
  }

  noteUnanswered({ header }: Session): void {
    const opened = this.#sessions.get(header);
    if (opened) opened.isUnanswered = true;
  }

  /** Returns true if a session of the file is gone, and no one but the service knows whether the file is complete. */
  mayBeComplete(path: string): boolean {
    return [...this.#sessions.values()].some(
      (opened) => opened.path === path && (opened.isComplete || opened.isUnanswered) && opened.isGone,
    );
  }

  /** Returns true if the service has a file with these chunks, and all of their bytes. */
  has(path: string, hashes: readonly string[]): boolean {
    const isStored = hashes.every((hash) => this.stored.has(hash));
    return isStored && this.files.some((file) => file.path === path && `${file.hashes}` === `${hashes}`);
  }

  /** Resolves with true if these chunks are the bytes of the file. */
  async isSame(hashes: readonly string[], file: Blob): Promise<boolean> {
    const bodies = hashes.map((hash) => this.#bodies.get(hash) ?? new Blob());
    return (await sha256(new Blob(bodies))) === (await sha256(file));
  }

  /** Responds to a request. `ticketsOf` returns tickets for the first storage. */
  answer(request: Request, ticketsOf: (hashes: readonly string[]) => ReadonlyMap<string, Ticket>): void {
    const answers: { readonly [K in Kind]: (request: Request<K>) => void } = {
      open: (asked) => asked.answer(this.#open(asked.file?.relativePath ?? asked.fileName)),
      presign: (asked) =>
        this.#inSession(asked, ({ path }) => asked.answer(this.#tickets(asked, path, ticketsOf))),
      put: (asked) => this.#put(asked),
      commit: (asked) => this.#inSession(asked, (opened) => this.#commit(asked, opened)),
      cancel: (asked) => {
        const opened = this.#sessions.get(asked.session.header);
        if (opened) opened.isGone = true;
        asked.answer();
      },
    };
    (answers[request.kind] as (request: Request) => void)(request);
  }

  #open(path: string): Session {
    this.#openedCount += 1;
    const header = `header-${this.#openedCount}`;
    this.#sessions.set(header, {
      path,
      storedCount: 0,
      isGone: false,
      isComplete: false,
      isUnanswered: false,
    });
    return { sessionId: `session-${this.#openedCount}`, header };
  }

  #inSession(request: Request<'presign'> | Request<'commit'>, answer: (opened: Opened) => void): void {
    const opened = this.#sessions.get(request.session.header);
    if (!opened || opened.isGone) request.refuse(sessionGone(410, this.#random() < 0.5));
    else if (this.forgetfulCount > 0) {
      this.forgetfulCount -= 1;
      request.refuse(sessionGone(404, false));
    } else answer(opened);
  }

  /** Returns tickets whose URLs name the storage and the session. */
  #tickets(
    { session, hashes }: Request<'presign'>,
    path: string,
    ticketsOf: (hashes: readonly string[]) => ReadonlyMap<string, Ticket>,
  ): ReadonlyMap<string, Ticket> {
    const tickets = [...ticketsOf(hashes)].map(([hash, { receipt, upload }]): [string, Ticket] => {
      if (!upload) return [hash, { receipt }];
      const url = new URL(upload.url);
      if (this.#isOnSecondStorage(path)) url.host = 'second-store.test';
      url.searchParams.set('session', session.header);
      return [hash, { receipt, upload: { ...upload, url: url.href } }];
    });
    return new Map(tickets);
  }

  #put(request: Request<'put'>): void {
    const path = this.#openedBy(request)?.path ?? '';
    this.putCounts.set(path, (this.putCounts.get(path) ?? 0) + 1);
    if (this.#isSilent && this.#isOnSecondStorage(path)) this.#held.add(request);
    else if (this.cutCount > 0 && request.body.size > SENT_BEFORE_CHANGE && this.isCut(path)) {
      this.cutCount -= 1;
      request.tell(SENT_BEFORE_CHANGE);
      this.#changeNetwork();
    } else this.#store(request);
  }

  #store(request: Request<'put'>): void {
    const { body, hash } = request;
    const opened = this.#openedBy(request);
    if (opened && !this.#bodies.has(hash)) {
      opened.storedCount += 1;
      opened.isGone ||= opened.storedCount >= this.sessionLifeChunks;
    }
    this.#bodies.set(hash, body);
    request.tell(Math.min(SENT_BEFORE_CHANGE, body.size));
    request.answer();
  }

  #commit(request: Request<'commit'>, opened: Opened): void {
    const { hashes } = request;
    const isFirst = !opened.isComplete && hashes.every((hash) => this.stored.has(hash));
    if (isFirst) {
      opened.isComplete = true;
      this.files.push({ path: opened.path, hashes });
    }
    if (!isFirst || this.commitAnswer === 'arrives') {
      request.answer();
      return;
    }
    opened.isGone = this.commitAnswer === 'lost-with-session';
    const code = this.#random() < 0.5 ? 'network' : 'timeout';
    request.refuse(new UploaderError(code, 'the response is lost'));
  }

  #openedBy({ upload }: Request<'put'>): Opened | undefined {
    return this.#sessions.get(new URL(upload.url).searchParams.get('session') ?? '');
  }
}

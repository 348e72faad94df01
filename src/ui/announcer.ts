// Announces totals (polite live region) and errors (assertive live region) to screen readers. Errors in quick succession are
// announced together.

import type { Change, ChangeMap } from '../core/changes.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Messages } from '../core/messages.ts';
import { shownText } from '../core/names.ts';
import { hasActive, isSettled, needsUser, type Phase } from '../core/phases.ts';
import type { AuthState, FileSnapshot, Snapshot } from '../core/types.ts';
import { runAfter, runUntil, sleep } from '../core/wait.ts';
import { sharedReason } from './causes.ts';
import type { Format } from './format.ts';
import { withSignInReason } from './sign-in-reason.ts';
import { leftOf } from './views/file-row.ts';
import { refusalOf } from './views/rejections.ts';

/** The parts of the element that the announcer uses. */
export interface AnnouncerHost {
  readonly snapshot: Snapshot;
  readonly texts: Messages;
  readonly format: Format;
  requestUpdate(): void;
}

/**
 * Interval between announcements of totals (`sumsEveryMs`), and time in which errors are collected (`gatherMs`), in milliseconds.
 */
export interface AnnouncerOptions {
  readonly sumsEveryMs: number;
  readonly gatherMs: number;
}

/** What the two live regions contain. */
export interface Spoken {
  readonly polite?: Node | undefined;
  readonly alert?: Node | undefined;
}

/** Time after which an announcement is removed, so that users who look around don't find it, in milliseconds. */
const SPOKEN_MS = 5000;

interface Trouble {
  readonly name: string;
  readonly sentence: string;
}

type Telling = 'announceRejected' | 'announceFailed';
/** Errors by the text that announces them, and the end of the uploads that is announced with them. */
type Gathered = Record<Telling, Trouble[]> & { end?: ChangeMap['uploads-finished'] };

/**
 * What is announced of uploads that run: `gathering`: an upload has started, and others may follow; `waiting`: none of them sends
 * anything yet, for example before the sign-in; `sending`: the start is announced.
 */
type Stage = 'silent' | 'gathering' | 'waiting' | 'sending';

/** `told`: the user has started uploads, which was announced. */
type Signal = 'started' | 'gathered' | 'sent' | 'told' | 'ended';

const STAGES: Readonly<Record<Stage, Partial<Record<Signal, Stage>>>> = {
  silent: { started: 'gathering', told: 'sending' },
  gathering: { gathered: 'waiting', told: 'sending', ended: 'silent' },
  waiting: { sent: 'sending', told: 'sending', ended: 'silent' },
  sending: { ended: 'silent' },
};

/** Whether the user takes part in a sign-in, by its state. In other states, it is as before. */
const TAKES_PART: Partial<Record<AuthState, boolean>> = {
  'signed-out': false,
  prompt: true,
  popup: true,
  login: true,
};

const isPausedByUser = ({ pauseReason }: FileSnapshot): boolean => pauseReason === 'user';
const isOver = ({ phase }: FileSnapshot): boolean => phase === 'failed' || phase === 'canceled';
/** A text of a row, without the dots that mean that more follows. */
const plainly = (text: string): string => text.replace(/[\s…]+$/, '');

/** What users do with files: which files it has changed, the text about one, and that about several. */
const DEEDS = {
  paused: {
    concerns: (oldFile: FileSnapshot, newFile: FileSnapshot) =>
      !isPausedByUser(oldFile) && isPausedByUser(newFile),
    ofOne: ({ pauseReasons }: Messages) => pauseReasons.user,
    ofAll: 'announcePaused',
  },
  resumed: {
    concerns: (oldFile: FileSnapshot, newFile: FileSnapshot) =>
      needsUser(oldFile) && !needsUser(newFile) && !isSettled(newFile.phase),
    ofOne: ({ pauseReasons }: Messages) => plainly(pauseReasons.resuming),
    ofAll: 'announceResumed',
  },
  retried: {
    concerns: (oldFile: FileSnapshot, newFile: FileSnapshot) => isOver(oldFile) && !isOver(newFile),
    ofOne: ({ retrying }: Messages) => plainly(retrying),
    ofAll: 'announceRetrying',
  },
} as const;

export type Deed = keyof typeof DEEDS;

const isSending = (phase: Phase): boolean => phase === 'uploading' || phase === 'committing';

/** The number of files that are being uploaded, or will be without the user. */
const countToUpload = (files: readonly FileSnapshot[]): number =>
  files.filter((file) => !isSettled(file.phase) && !needsUser(file)).length;

export class Announcer {
  /** The current texts of the two live regions. */
  spoken: Spoken = {};
  readonly #host: AnnouncerHost;
  readonly #options: AnnouncerOptions;
  /** `undefined` while there are no errors to announce. */
  #gathered: Gathered | undefined;
  #stage: Stage = 'silent';
  /** Ends the timers of the stage. */
  #stageEnd = new AbortController();
  #takesPart = false;

  constructor(host: AnnouncerHost, options: AnnouncerOptions = { sumsEveryMs: 10_000, gatherMs: 300 }) {
    this.#host = host;
    this.#options = options;
  }

  /** Announces `change` if users need to know about it. */
  onChange(change: Change): void {
    const { texts } = this.#host;
    switch (change.name) {
      case 'upload-started':
        this.#step('started');
        break;
      case 'upload-progress':
        if (isSending(change.detail.phase)) this.#step('sent');
        break;
      case 'uploads-finished':
        this.stop();
        if (this.#gathered?.announceFailed.length) this.#gathered.end = change.detail;
        else this.say(this.#endOf(change.detail));
        break;
      case 'auth-changed': {
        const { state } = change.detail;
        const { required, error } = this.#host.snapshot.auth;
        // An error is announced instead.
        if (state === 'prompt' && required && !error) this.say(texts.signInTitle);
        if (state === 'signed-in' && this.#takesPart) this.say(texts.signedIn);
        this.#takesPart = TAKES_PART[state] ?? (state !== 'signed-in' && this.#takesPart);
        break;
      }
      case 'auth-failed':
        // The sign-in form announces its own errors.
        if (this.#host.snapshot.auth.mode !== 'local') this.#put('alert', texts[change.detail.code]);
        break;
      case 'upload-failed':
        this.#gather('announceFailed', change.detail.name, texts[change.detail.code]);
        break;
      case 'upload-paused': {
        const { id, reason } = change.detail;
        if (reason !== 'needs-file') break;
        const pausedFile = this.#host.snapshot.files.find((file) => file.id === id);
        if (pausedFile?.warning) this.#gather('announceFailed', pausedFile.name, texts[pausedFile.warning]);
        break;
      }
      case 'file-rejected': {
        const { name, code } = change.detail as { name: string; code: ErrorCode };
        const sentence = refusalOf(
          { ...change.detail, code },
          { messages: texts, format: this.#host.format },
        );
        this.#gather('announceRejected', name, sentence);
        break;
      }
    }
  }

  /** Announces what the user has done with the files that differ between `oldFiles` and `newFiles`. */
  tell(deed: Deed, oldFiles: readonly FileSnapshot[], newFiles: readonly FileSnapshot[]): void {
    const { concerns, ofOne, ofAll } = DEEDS[deed];
    const old = new Map(oldFiles.map((file) => [file.id, file]));
    const files = newFiles.filter((file) => concerns(old.get(file.id) ?? file, file));
    const [first] = files;
    if (!first) return;
    const { texts } = this.#host;
    this.say(
      files.length === 1 ? texts.actionOn(ofOne(texts), shownText(first.name)) : texts[ofAll](files.length),
    );
    // Otherwise, the next start would not be announced.
    if (countToUpload(newFiles) === 0) this.stop();
    else if (deed !== 'paused') this.#step('told');
  }

  /** Clears all announcements. Call this method when the user changes. */
  clear(): void {
    this.#gathered = undefined;
    this.spoken = {};
  }

  /** Stops announcing totals. */
  stop(): void {
    this.#step('ended');
  }

  /** Enters the next stage, if `signal` leads to one. */
  #step(signal: Signal): void {
    const stage = STAGES[this.#stage][signal];
    if (!stage) return;
    this.#stage = stage;
    this.#stageEnd.abort();
    this.#stageEnd = new AbortController();
    const { signal: stageEnd } = this.#stageEnd;
    const { files } = this.#host.snapshot;
    if (stage === 'gathering') runAfter(this.#options.gatherMs, stageEnd, () => this.#step('gathered'));
    else if (stage === 'waiting' && files.some(({ phase }) => isSending(phase))) this.#step('sent');
    else if (stage !== 'silent') runUntil(stageEnd, () => this.#tellSums(stageEnd));
    const count = countToUpload(files);
    if (signal === 'sent' && count > 0) this.say(this.#host.texts.uploading(count));
  }

  /** Announces the totals from time to time, or once why all files wait. */
  async #tellSums(stageEnd: AbortSignal): Promise<void> {
    let lastText: string | undefined;
    for (;;) {
      await sleep(this.#options.sumsEveryMs, stageEnd);
      const text = this.#textOfSums();
      if (text && text !== lastText) this.say(text);
      lastText = text;
    }
  }

  #textOfSums(): string | undefined {
    const { snapshot, texts, format } = this.#host;
    const { auth, totals, files } = snapshot;
    if (!hasActive(files)) {
      const reason = sharedReason(withSignInReason(auth, files), false);
      return reason && texts.pauseReasons[reason];
    }
    if (this.#stage !== 'sending') return undefined;
    const percent = format.percent(totals.sizeBytes === 0 ? 0 : totals.sentBytes / totals.sizeBytes);
    const remaining =
      totals.remainingMs === undefined ? undefined : leftOf(totals.remainingMs, texts, format);
    return texts.announceSums(percent, totals.doneCount, totals.fileCount, remaining);
  }

  /** Returns the text about the end; without the failures if all of them (`toldCount`) are announced with it. */
  #endOf({ doneCount, failedCount, canceledCount }: ChangeMap['uploads-finished'], toldCount = 0): string {
    const failed = failedCount > toldCount ? failedCount : 0;
    return doneCount + failed + canceledCount > 0
      ? this.#host.texts.announceFinished(doneCount, failed, canceledCount)
      : '';
  }

  #gather(tell: Telling, name: string, sentence: string): void {
    this.#gathered ??= this.#announceSoon();
    this.#gathered[tell].push({ name: shownText(name), sentence });
  }

  /** Announces the number of errors and the first one, after a short delay in which errors are collected. */
  #announceSoon(): Gathered {
    const gathered: Gathered = { announceRejected: [], announceFailed: [] };
    void sleep(this.#options.gatherMs, new AbortController().signal).then(() => {
      if (gathered !== this.#gathered) return;
      this.#gathered = undefined;
      const sentences = (['announceRejected', 'announceFailed'] as const).flatMap((tell) => {
        const troubles = gathered[tell];
        const [first] = troubles;
        return first ? [this.#host.texts[tell](troubles.length, first.name, first.sentence)] : [];
      });
      const end = gathered.end && this.#endOf(gathered.end, gathered.announceFailed.length);
      this.#put('alert', [end, ...sentences].filter(Boolean).join(' '));
    });
    return gathered;
  }

  /** Announces `text` in the polite live region. */
  say(text: string): void {
    if (text) this.#put('polite', text);
  }

  #put(region: keyof Spoken, text: string): void {
    // A new element is announced even if the last one has the same text.
    const element = document.createElement('span');
    element.textContent = text;
    const set = (value: Node | undefined): void => {
      this.spoken = { ...this.spoken, [region]: value };
      this.#host.requestUpdate();
    };
    set(element);
    setTimeout(() => {
      if (this.spoken[region] === element) set(undefined);
    }, SPOKEN_MS);
  }
}

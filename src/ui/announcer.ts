// Announces totals (polite live region) and errors (assertive live region) to screen readers. Errors in quick succession are
// announced together.

import type { Change } from '../core/changes.ts';
import type { ErrorCode } from '../core/errors.ts';
import { shownText } from '../core/names.ts';
import { hasActive, isSettled, needsUser } from '../core/phases.ts';
import type { FileSnapshot, Snapshot } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import { sharedReason } from './causes.ts';
import type { Format } from './format.ts';
import type { Messages } from './messages.ts';
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

/** Errors by the text that announces them. */
type Gathered = Record<'announceRejected' | 'announceFailed', Trouble[]>;

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
  /** Stops announcing totals; `undefined` while no upload runs. */
  #running: AbortController | undefined;

  constructor(host: AnnouncerHost, options: AnnouncerOptions = { sumsEveryMs: 10_000, gatherMs: 300 }) {
    this.#host = host;
    this.#options = options;
  }

  /** Announces `change` if users need to know about it. */
  onChange(change: Change): void {
    const { texts } = this.#host;
    switch (change.name) {
      case 'upload-started':
        if (!this.#running) this.#begin();
        break;
      case 'uploads-finished': {
        const { doneCount, failedCount, canceledCount } = change.detail;
        this.stop();
        if (doneCount + failedCount + canceledCount > 0)
          this.say(texts.announceFinished(doneCount, failedCount, canceledCount));
        break;
      }
      case 'auth-changed': {
        const { required, error } = this.#host.snapshot.auth;
        // An error is announced instead.
        if (change.detail.state === 'prompt' && required && !error) this.say(texts.signInTitle);
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
        const lost = this.#host.snapshot.files.find((file) => file.id === id);
        if (lost?.warning) this.#gather('announceFailed', lost.name, texts[lost.warning]);
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

  /** Announces how many of `files` the user has paused. Call this method after a pause. */
  tellPaused(files: readonly FileSnapshot[]): void {
    const pausedCount = files.filter(({ pauseReason }) => pauseReason === 'user').length;
    if (pausedCount > 0) this.say(this.#host.texts.announcePaused(pausedCount));
    // Otherwise, the next start would not be announced.
    if (countToUpload(files) === 0) this.stop();
  }

  /** Clears all announcements. Call this method when the user changes. */
  clear(): void {
    this.#gathered = undefined;
    this.spoken = {};
  }

  /** Stops announcing totals. */
  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  #begin(): void {
    this.#running = new AbortController();
    const { signal } = this.#running;
    const begun = sleep(this.#options.gatherMs, signal).then(() => {
      const count = countToUpload(this.#host.snapshot.files);
      if (count > 0) this.say(this.#host.texts.uploading(count));
    });
    void begun.then(() => this.#tellSums(signal)).catch(() => undefined);
  }

  async #tellSums(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#options.sumsEveryMs, signal);
      const { snapshot, texts, format } = this.#host;
      const { totals, files } = snapshot;
      if (!hasActive(files)) {
        const reason = sharedReason(files, false);
        if (reason) this.say(texts.pauseReasons[reason]);
        continue;
      }
      const percent = format.percent(totals.sizeBytes === 0 ? 0 : totals.sentBytes / totals.sizeBytes);
      const left = totals.remainingMs === undefined ? undefined : leftOf(totals.remainingMs, texts, format);
      this.say(texts.announceSums(percent, totals.doneCount, totals.fileCount, left));
    }
  }

  #gather(tell: keyof Gathered, name: string, sentence: string): void {
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
        const all = gathered[tell];
        const [first] = all;
        return first ? [this.#host.texts[tell](all.length, first.name, first.sentence)] : [];
      });
      this.#put('alert', sentences.join(' '));
    });
    return gathered;
  }

  /** Announces `text` in the polite live region. */
  say(text: string): void {
    this.#put('polite', text);
  }

  #put(region: keyof Spoken, text: string): void {
    // A new element is announced even if the last one has the same text.
    const said = document.createElement('span');
    said.textContent = text;
    const set = (value: Node | undefined): void => {
      this.spoken = { ...this.spoken, [region]: value };
      this.#host.requestUpdate();
    };
    set(said);
    setTimeout(() => {
      if (this.spoken[region] === said) set(undefined);
    }, SPOKEN_MS);
  }
}

// Announces totals (polite live region) and errors (assertive live region) to screen readers. Errors in quick succession are
// announced together.

import type { Change } from '../core/changes.ts';
import type { ErrorCode } from '../core/errors.ts';
import { shownText } from '../core/names.ts';
import { isActive } from '../core/phases.ts';
import type { Snapshot } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import type { Format } from './format.ts';
import type { Messages } from './messages.ts';
import { sharedReason } from './shared-reason.ts';
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

export class Announcer {
  /** The current texts of the two live regions. */
  spoken: Spoken = {};
  readonly #host: AnnouncerHost;
  readonly #options: AnnouncerOptions;
  #failed: Trouble[] = [];
  #rejected: Trouble[] = [];
  #isGathering = false;
  #isRunning = false;
  #stop = new AbortController();

  constructor(host: AnnouncerHost, options: AnnouncerOptions = { sumsEveryMs: 10_000, gatherMs: 300 }) {
    this.#host = host;
    this.#options = options;
  }

  /** Announces `change` if users need to know about it. */
  onChange(change: Change): void {
    const { texts } = this.#host;
    switch (change.name) {
      case 'upload-started':
        if (!this.#isRunning) this.#begin();
        break;
      case 'uploads-finished': {
        const { doneCount, failedCount, canceledCount } = change.detail;
        this.#end();
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
        this.#failed.push({ name: shownText(change.detail.name), sentence: texts[change.detail.code] });
        this.#gather();
        break;
      case 'upload-paused': {
        const { id, reason } = change.detail;
        if (reason !== 'needs-file') break;
        const lost = this.#host.snapshot.files.find((file) => file.id === id);
        if (!lost?.warning) break;
        this.#failed.push({ name: shownText(lost.name), sentence: texts[lost.warning] });
        this.#gather();
        break;
      }
      case 'file-rejected': {
        const { name, code } = change.detail as { name: string; code: ErrorCode };
        const sentence = refusalOf(
          { ...change.detail, code },
          { messages: texts, format: this.#host.format },
        );
        this.#rejected.push({ name: shownText(name), sentence });
        this.#gather();
        break;
      }
    }
  }

  /** Clears all announcements. Call this method when the user changes. */
  clear(): void {
    this.#failed = [];
    this.#rejected = [];
    this.spoken = {};
  }

  /** Stops announcing totals. */
  stop(): void {
    this.#end();
  }

  #begin(): void {
    this.#isRunning = true;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const begun = sleep(this.#options.gatherMs, signal).then(() => {
      const { openCount } = this.#host.snapshot.totals;
      if (openCount > 0) this.say(this.#host.texts.uploading(openCount));
    });
    void begun.then(() => this.#tellSums(signal)).catch(() => undefined);
  }

  #end(): void {
    this.#isRunning = false;
    this.#stop.abort();
  }

  async #tellSums(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#options.sumsEveryMs, signal);
      const { snapshot, texts, format } = this.#host;
      const { totals, files } = snapshot;
      if (!files.some((file) => isActive(file.phase))) {
        const reason = sharedReason(files, false);
        if (reason) this.say(texts.pauseReasons[reason]);
        continue;
      }
      const percent = format.percent(totals.sizeBytes === 0 ? 0 : totals.sentBytes / totals.sizeBytes);
      const left = totals.remainingMs === undefined ? undefined : leftOf(totals.remainingMs, texts, format);
      this.say(texts.announceSums(percent, totals.doneCount, totals.fileCount, left));
    }
  }

  /** Announces the number of collected errors and the first error, after a short delay. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    void sleep(this.#options.gatherMs, new AbortController().signal).then(() => {
      this.#isGathering = false;
      const { texts } = this.#host;
      const sentences = [
        [this.#rejected, texts.announceRejected] as const,
        [this.#failed, texts.announceFailed] as const,
      ].flatMap(([troubles, tell]) => {
        const [first] = troubles;
        return first ? [tell(troubles.length, first.name, first.sentence)] : [];
      });
      this.#failed = [];
      this.#rejected = [];
      this.#put('alert', sentences.join(' '));
    });
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

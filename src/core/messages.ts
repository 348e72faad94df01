// The types of all texts. Texts with numbers or names are functions, so that each language can choose the word order.

import type { ErrorCode } from './errors.ts';
import type { PauseReason, Phase } from './phases.ts';

/** A sentence for each error code: what happened, and what to do next. */
export type ErrorMessages = Readonly<Record<ErrorCode, string>>;

/**
 * Texts of the uploader. Functions get sizes, durations and percentages as text, formatted for `locale`.
 */
export interface InterfaceMessages {
  /**
   * BCP 47 language tag of the texts. Numbers, sizes and times are formatted for this language, not for the
   * browser's.
   */
  readonly locale: string;
  readonly label: string;
  readonly dropFile: string;
  readonly dropFiles: string;
  readonly dropNow: string;
  readonly turnedOff: string;
  readonly chooseFile: string;
  readonly chooseFiles: string;
  readonly chooseFolder: string;
  /** Names of the kinds of files in `accept` (`image/*`), and of types without a usual name. */
  readonly kinds: Readonly<Record<'image' | 'video' | 'audio' | 'text' | 'other', string>>;
  readonly upTo: (size: string) => string;
  readonly atMost: (count: number) => string;
  /** Message of a form that needs `count` uploaded files. */
  readonly atLeast: (count: number) => string;
  /** Message of a form with files that are not uploaded. */
  readonly unfinished: string;
  /** Message of a form that can't submit an uploaded file. */
  readonly unsendable: (name: string) => string;
  /** Message of a form that waits for the uploads (`submit-when-done`). */
  readonly submitsLater: string;
  /** A form that has waited for the uploads was not sent. */
  readonly notSent: string;
  /** The code of the list could not be loaded; the user can try again. */
  readonly loadFailed: string;
  /** The code of the list could not be loaded again. */
  readonly reload: string;
  readonly reading: (count: number) => string;
  readonly emptyFolders: (count: number) => string;
  readonly list: string;
  /** A paused file shows its reason instead. */
  readonly phases: Readonly<Record<Exclude<Phase, 'paused'>, string>>;
  readonly pauseReasons: Readonly<Record<PauseReason, string>>;
  readonly retrying: string;
  readonly retryingIn: (duration: string) => string;
  readonly pause: string;
  readonly resume: string;
  readonly chooseAgain: string;
  readonly cancel: string;
  readonly retry: string;
  readonly uploadAs: (name: string) => string;
  readonly remove: string;
  readonly undo: string;
  readonly undoableCancel: (count: number) => string;
  readonly undoableRemoval: string;
  readonly actionOn: (action: string, name: string) => string;
  readonly start: (count: number) => string;
  readonly pauseAll: string;
  readonly resumeAll: string;
  readonly cancelAll: string;
  readonly retryFailed: string;
  readonly clear: string;
  readonly moreActions: string;
  readonly progress: string;
  readonly progressOf: (name: string) => string;
  readonly sizeOf: (sent: string, total: string) => string;
  readonly left: (duration: string) => string;
  readonly soon: string;
  readonly doneOf: (done: number, count: number) => string;
  readonly ready: (count: number) => string;
  readonly uploading: (count: number) => string;
  readonly chooseAllAgain: (count: number) => string;
  readonly allUploaded: (count: number) => string;
  readonly failed: (count: number) => string;
  readonly rejected: (count: number) => string;
  readonly limit: (limit: string) => string;
  readonly more: (count: number) => string;
  readonly dismiss: string;
  readonly signInTitle: string;
  readonly signInText: string;
  readonly signIn: string;
  readonly popupTitle: string;
  readonly popupText: string;
  readonly popupLostTitle: string;
  readonly popupLostText: string;
  readonly openAgain: string;
  readonly continueHere: string;
  readonly redirectText: string;
  readonly signingIn: string;
  readonly signedIn: string;
  readonly cancelSignIn: string;
  readonly coolingTitle: string;
  readonly coolingText: (duration: string | undefined) => string;
  readonly seconds: (count: number) => string;
  readonly tryAgain: string;
  readonly announceSums: (percent: string, done: number, count: number, left: string | undefined) => string;
  readonly announcePaused: (count: number) => string;
  readonly announceResumed: (count: number) => string;
  readonly announceRetrying: (count: number) => string;
  /** After an undo. With one file, its name follows. */
  readonly announceRestored: (count: number) => string;
  readonly announceFinished: (done: number, failed: number, canceled: number) => string;
  readonly announceUndo: (text: string) => string;
  readonly announceFailed: (count: number, name: string, sentence: string) => string;
  readonly announceRejected: (count: number, name: string, sentence: string) => string;
}

/** All texts of the uploader. */
export type Messages = ErrorMessages & InterfaceMessages;

/** Texts of the sign-in form. */
export interface FormMessages {
  readonly email: string;
  readonly password: string;
  readonly show: string;
  readonly hide: string;
  readonly logIn: string;
  readonly signInWith: (label: string) => string;
  readonly account: string;
  readonly busy: string;
  readonly chooseTitle: string;
  /** Names of the ways to verify. */
  readonly methods: Readonly<
    Record<'passkey' | 'push' | 'totp' | 'email' | 'sms' | 'recovery' | 'code', string>
  >;
  readonly code: string;
  readonly sentTo: (where: string) => string;
  readonly attemptsLeft: (count: number) => string;
  readonly verify: string;
  readonly usePasskey: string;
  readonly waitText: string;
  readonly waitNumber: (number: string) => string;
  readonly sendAgain: string;
  readonly sendAgainIn: (seconds: number) => string;
  readonly otherMethod: string;
  readonly startOver: string;
  readonly inWindow: string;
  readonly otherJar: string;
  readonly framed: string;
  readonly shownElsewhere: string;
}

/** Texts of the sign-in form, including the texts that the form shares with the uploader. */
export type LoginMessages = Messages & FormMessages;

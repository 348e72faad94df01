// The English texts of the uploader. A page overrides any of them through the `messages` property. Texts with
// numbers or names are functions, so that other languages can choose the word order.

import type { ErrorCode } from '../core/errors.ts';
import type { PauseReason, Phase } from '../core/phases.ts';

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

/** All texts. */
export type Messages = ErrorMessages & InterfaceMessages;

const files = (count: number): string => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`);

const ERRORS: ErrorMessages = {
  'bad-config': "Uploads aren't set up correctly on this page. Contact the site owner.",
  'insecure-context': 'Uploads need a secure connection. Open this page over HTTPS.',
  'file-too-large': 'Too large. Choose a smaller file.',
  'file-type-refused': 'File type not allowed. Choose another file.',
  'too-many-files': 'Too many files. Remove one to add another.',
  'file-empty': 'Empty file. Choose another one.',
  'file-unreadable':
    "We couldn't read this file. Make sure it still exists and isn't open in another app, then choose it again.",
  'file-changed': 'This file changed during the upload. Try again to upload the new version.',
  'wrong-file': "This file doesn't match the unfinished upload. Choose the original file.",
  'hash-failed': "We couldn't prepare this file for upload. Try again.",
  'transform-failed': "We couldn't prepare this file for upload. Try again.",
  'location-not-removed': "The location can't be removed from this file. Choose another file.",
  offline: "You're offline. The upload resumes when you're back online.",
  network: "We couldn't reach the server. Check your connection and try again.",
  timeout: 'The server took too long to respond. Try again in a moment.',
  'rate-limited': 'The server is busy. Try again in a moment.',
  forbidden: "You don't have permission to upload here. Contact the site owner for access.",
  'name-taken': 'A file with this name already exists. Upload yours with a different name.',
  'session-expired':
    'This upload expired. If the file is not in the folder, remove it here and add it again.',
  'service-failed': 'Something went wrong on the server. Try again in a moment.',
  'service-not-found': "Uploads aren't set up correctly on this page. Contact the site owner.",
  'service-full': 'The server has no space left. Contact the site owner.',
  'bad-response': 'The server sent unexpected data. Try again in a moment.',
  'ticket-expired': 'The upload link expired. Try again.',
  'upload-refused': 'The server rejected the upload. Try again, or contact the site owner.',
  'storage-unreadable': "The storage server can't be used from this page. Contact the site owner.",
  'upload-stalled': 'The upload stopped making progress. Check your connection and try again.',
  'upload-restarted': 'This upload had to start over, so it takes longer.',
  'hash-mismatch': 'Some data was damaged during the upload, but your file is safe. Try again.',
  'store-full':
    "Your browser's storage is full, so this upload can't resume later. Keep this page open until it's done.",
  'store-unavailable': "Your browser can't save this upload's progress. Keep this page open until it's done.",
  'sign-in-required': 'Sign in to continue.',
  'access-denied': 'Access was denied. Sign in again or use another account.',
  'authorize-failed': 'Sign-in failed. Try again.',
  'popup-blocked': 'Your browser blocked the sign-in window. Allow pop-ups for this page and try again.',
  'popup-closed': 'The sign-in window was closed. Sign in to continue.',
  'popup-timeout': 'Sign-in took too long. Try again.',
  'silent-timeout': "We couldn't sign you in automatically. Sign in to continue.",
  'state-mismatch': "We couldn't verify this sign-in. Try again.",
  'issuer-mismatch': 'This sign-in came from an unexpected server. Contact the site owner.',
  'code-rejected': "We couldn't complete your sign-in. Try again.",
  'token-malformed': 'Something went wrong while signing you in. Try again.',
  'token-rejected': "The server didn't accept your sign-in. Sign in again.",
  'host-token-failed': "This page couldn't sign you in. Try again.",
  'credentials-rejected': 'Incorrect email or password. Try again.',
  'account-locked': 'This account is locked. Try again later, or contact the site owner.',
  'challenge-failed': 'Verification failed. Try again.',
  'challenge-denied': 'The sign-in request was denied. Try again.',
  'challenge-expired': 'This step timed out. Sign in again.',
  'method-unsupported': "This form doesn't support your verification method. Try another way to sign in.",
  'step-unsupported': "You can't finish signing in with this form. Try another way to sign in.",
  'passkey-canceled': 'Passkey sign-in was canceled. Try again.',
  'passkey-unavailable': "Passkeys can't be used here. Choose another method.",
  canceled: 'Canceled.',
};

/** All texts in English. */
export const ENGLISH: Messages = Object.freeze<Messages>({
  ...ERRORS,
  locale: 'en',
  label: 'File upload',
  dropFile: 'Drop a file here',
  dropFiles: 'Drop files here',
  dropNow: 'Drop to upload',
  turnedOff: 'Uploads are turned off',
  chooseFile: 'Choose a file',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  kinds: { image: 'images', video: 'videos', audio: 'audio files', text: 'text files', other: 'other types' },
  upTo: (size) => `up to ${size} per file`,
  atMost: (count) => `at most ${files(count)}`,
  atLeast: (count) => (count === 1 ? 'Upload a file.' : `Upload at least ${files(count)}.`),
  unfinished: "Some files aren't uploaded yet. Finish uploading them, or remove them from the list.",
  unsendable: (name) => `${name} can't be sent with this form. Remove it from the list, then add it again.`,
  submitsLater: 'The form will be sent when all files are uploaded.',
  notSent: "The form wasn't sent.",
  loadFailed: "We couldn't load everything that uploads need. Check your connection and try again.",
  reload: "We couldn't load everything that uploads need. Reload this page, then choose your files again.",
  reading: (count) => `Reading files… ${files(count)} found`,
  emptyFolders: (count) =>
    count === 1 ? '1 empty folder was skipped.' : `${count} empty folders were skipped.`,
  list: 'Files',
  phases: {
    queued: 'Waiting',
    hashing: 'Preparing…',
    uploading: 'Uploading',
    committing: 'Finishing…',
    done: 'Done',
    failed: 'Upload failed',
    canceled: 'Canceled',
  },
  pauseReasons: {
    user: 'Paused',
    offline: 'Waiting for connection',
    'signed-out': 'Waiting for sign-in',
    challenge: 'Waiting for sign-in',
    'rate-limited': 'Server busy, retrying soon',
    'other-tab': 'Uploading in another tab',
    'slow-file': 'Waiting for the file',
    resuming: 'Resuming…',
    'needs-file': 'Choose the file again to continue',
  },
  retrying: 'Retrying…',
  retryingIn: (duration) => `Retrying in ${duration}`,
  pause: 'Pause',
  resume: 'Resume',
  chooseAgain: 'Choose file',
  cancel: 'Cancel',
  retry: 'Retry',
  uploadAs: (name) => `Upload as ${name}`,
  remove: 'Remove from list',
  undo: 'Undo',
  undoableCancel: (count) =>
    count === 1 ? 'Upload canceled' : `${count.toLocaleString('en')} uploads canceled`,
  undoableRemoval: 'File removed from the list',
  actionOn: (action, name) => `${action}: ${name}`,
  start: (count) => `Upload ${files(count)}`,
  pauseAll: 'Pause all',
  resumeAll: 'Resume all',
  cancelAll: 'Cancel all',
  retryFailed: 'Retry failed files',
  clear: 'Clear finished',
  moreActions: 'More actions',
  progress: 'Progress of all files',
  progressOf: (name) => `Progress of ${name}`,
  sizeOf: (sent, total) => `${sent} of ${total}`,
  left: (duration) => `${duration} left`,
  soon: 'a few seconds left',
  doneOf: (done, count) => `${done.toLocaleString('en')} of ${files(count)} done`,
  ready: (count) => `${files(count)} ready to upload`,
  uploading: (count) => `Uploading ${files(count)}`,
  chooseAllAgain: (count) => `Choose ${files(count)} again`,
  allUploaded: (count) => (count === 1 ? '1 file uploaded' : `All ${files(count)} uploaded`),
  failed: (count) => `${files(count)} failed`,
  rejected: (count) => `${files(count)} ${count === 1 ? "wasn't" : "weren't"} added`,
  limit: (limit) => `Allowed: ${limit}.`,
  more: (count) => `and ${count} more`,
  dismiss: 'Dismiss',
  signInTitle: 'Sign in to upload',
  signInText: 'Sign-in opens in a new window. Your files stay on this page.',
  signIn: 'Sign in',
  popupTitle: 'Continue in the sign-in window',
  popupText: 'Finish signing in there, then return to this page.',
  popupLostTitle: 'Waiting for sign-in',
  popupLostText: 'If you closed the sign-in window, open it again.',
  openAgain: 'Open again',
  continueHere: 'Continue in this tab',
  redirectText:
    "You'll leave this page to sign in. When you return, you may need to choose unfinished files again.",
  signingIn: 'Signing you in…',
  signedIn: "You're signed in.",
  cancelSignIn: 'Cancel sign-in',
  coolingTitle: 'Waiting to sign you in',
  coolingText: (duration) =>
    duration === undefined ? 'Trying again soon.' : `Trying again in about ${duration}.`,
  seconds: (count) => `${count} s`,
  tryAgain: 'Try again',
  announceSums: (percent, done, count, left) =>
    `${percent} uploaded, ${done} of ${files(count)} done${left === undefined ? '' : `, ${left}`}.`,
  announcePaused: (count) => `Paused: ${files(count)}`,
  announceResumed: (count) => `Resuming ${files(count)}`,
  announceRetrying: (count) => `Retrying ${files(count)}`,
  announceRestored: (count) => (count === 1 ? 'Restored' : `Restored: ${files(count)}`),
  announceFinished: (done, failed, canceled) =>
    [
      done > 0 || failed + canceled === 0 ? `Finished: ${files(done)} uploaded.` : 'Finished.',
      failed > 0 ? `${files(failed)} failed to upload.` : '',
      canceled > 0 ? `${files(canceled)} canceled.` : '',
    ]
      .filter(Boolean)
      .join(' '),
  announceUndo: (text) => `${text}. You can undo this for a few seconds.`,
  announceFailed: (count, name, sentence) =>
    count === 1 ? `${name}: ${sentence}` : `${files(count)} failed to upload. ${name}: ${sentence}`,
  announceRejected: (count, name, sentence) =>
    count === 1 ? `${name} wasn't added. ${sentence}` : `${files(count)} weren't added. ${name}: ${sentence}`,
});

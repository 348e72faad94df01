// Every word that a user reads, in English. A page overrides any of them through the `messages` property; it knows
// nothing of when they are shown. Counted and composed texts are functions, so that other languages can order them.

import type { ErrorCode } from '../core/errors.ts';
import type { PauseReason, Phase } from '../core/phases.ts';

/** A sentence for each error: what happened, and what to do next. */
export type ErrorMessages = Readonly<Record<ErrorCode, string>>;

/** The words of the widget itself. Sizes, speeds, durations and percentages arrive already formatted for `locale`. */
export interface InterfaceMessages {
  /** BCP 47 tag that numbers, sizes and times are formatted for. It belongs to the words, not to the browser. */
  readonly locale: string;
  readonly label: string;
  readonly dropFile: string;
  readonly dropFiles: string;
  readonly dropNow: string;
  readonly chooseFile: string;
  readonly chooseFiles: string;
  readonly chooseFolder: string;
  readonly upTo: (size: string) => string;
  readonly atMost: (count: number) => string;
  readonly reading: (count: number) => string;
  readonly emptyFolders: (count: number) => string;
  readonly unreadable: (count: number) => string;
  readonly list: string;
  readonly phases: Readonly<Record<Phase, string>>;
  readonly pauseReasons: Readonly<Record<PauseReason, string>>;
  readonly retrying: string;
  readonly pause: string;
  readonly resume: string;
  readonly chooseAgain: string;
  readonly cancel: string;
  readonly retry: string;
  readonly uploadAs: (name: string) => string;
  readonly first: string;
  readonly remove: string;
  readonly actionOn: (action: string, name: string) => string;
  readonly start: (count: number) => string;
  readonly pauseAll: string;
  readonly resumeAll: string;
  readonly cancelAll: string;
  readonly retryFailed: string;
  readonly clear: string;
  readonly progress: string;
  readonly progressOf: (name: string) => string;
  readonly sizeOf: (sent: string, total: string) => string;
  readonly left: (duration: string) => string;
  readonly soon: string;
  readonly doneOf: (done: number, count: number) => string;
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
  readonly coolingTitle: string;
  readonly coolingText: (duration: string | undefined) => string;
  readonly tryAgain: string;
  readonly announceStarted: (count: number) => string;
  readonly announceSums: (percent: string, done: number, count: number, left: string | undefined) => string;
  readonly announceFinished: (done: number, failed: number, canceled: number) => string;
  readonly announceFailed: (count: number, name: string, sentence: string) => string;
  readonly announceRejected: (count: number, name: string, sentence: string) => string;
}

/** All texts. */
export type Messages = ErrorMessages & InterfaceMessages;

const files = (count: number): string => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`);

const ERRORS: ErrorMessages = {
  'bad-config': 'This upload is not set up correctly. Tell whoever runs this page.',
  'insecure-context': 'This page is not secure, so files cannot be sent. Open it with https.',
  'file-too-large': 'This file is too large. Choose a smaller one.',
  'file-type-refused': 'This type of file is not accepted here. Choose another one.',
  'too-many-files': 'That is more files than are accepted here. Remove some first.',
  'file-empty': 'This file is empty. Choose one with something in it.',
  'file-unreadable':
    'This file cannot be read. Check that it is still there and not open elsewhere, then choose it again.',
  'file-changed': 'This file was changed while it was uploading. Retry to send it as it is now.',
  'wrong-file': 'This is not the file that was begun. Choose the same one again.',
  'hash-failed': 'This file could not be checked. Retry, or reload the page.',
  offline: 'There is no connection. The upload goes on when it is back.',
  network: 'The service cannot be reached. Check your connection, then retry.',
  timeout: 'The service took too long to answer. Retry in a moment.',
  'rate-limited': 'The service is busy. Retry in a moment.',
  forbidden: 'You may not put files in this folder. Ask its owner for access.',
  'name-taken': 'There is already a file of this name. Upload yours under another one.',
  'session-expired': 'This upload was left for too long. Retry to start it again.',
  'service-failed': 'The service has a problem. Retry in a moment.',
  'bad-response':
    'The service gave an answer that makes no sense. Retry; if it stays so, tell whoever runs this page.',
  'ticket-expired': 'The permission to upload ran out. Retry to get a new one.',
  'upload-refused':
    'The service did not take this file. Retry; if it stays so, rename the file, or tell whoever runs this page.',
  'upload-stalled': 'The upload came to a standstill. Check your connection, then retry.',
  'hash-mismatch': 'This file was damaged on its way. Retry to send it again.',
  'store-full': 'Your browser has no room to remember this upload. Keep this page open until it is done.',
  'store-unavailable': 'Your browser cannot remember this upload. Keep this page open until it is done.',
  'sign-in-required': 'Sign in to go on.',
  'access-denied': 'Access was denied. Sign in again, perhaps with another account.',
  'authorize-failed': 'Signing in did not work. Try again.',
  'popup-blocked': 'Your browser blocked the sign-in window. Allow it for this page, then try again.',
  'popup-closed': 'The sign-in window was closed. Sign in to go on.',
  'popup-timeout': 'Signing in took too long. Try again.',
  'silent-timeout': 'You could not be signed in by itself. Sign in to go on.',
  'state-mismatch': 'That sign-in was not started here. Try again.',
  'issuer-mismatch':
    'That sign-in came from somewhere else, so it was not used. Tell whoever runs this page.',
  'code-rejected': 'The service did not accept that sign-in. Try again.',
  'token-malformed': 'The service gave a sign-in that cannot be used. Try again.',
  'token-rejected': 'The service does not accept your sign-in any more. Sign in again.',
  'host-token-failed': 'This page could not sign you in. Try again, or reload the page.',
  'credentials-rejected': 'E-mail or password is not right. Try again.',
  'account-locked': 'This account is locked. Try later, or ask for help.',
  'challenge-failed': 'That code is not right. Try again.',
  'challenge-denied': 'The request was denied. Try again, or choose another way.',
  'challenge-expired': 'That took too long. Sign in again.',
  'method-unsupported': 'None of the offered ways works here. Sign in in a window instead.',
  'step-unsupported': 'The service asks for something that works only in its own window. Sign in there.',
  'passkey-canceled': 'The passkey was not used. Try again, or choose another way.',
  'passkey-unavailable': 'Passkeys do not work here. Choose another way.',
  canceled: 'Canceled. Nothing more is sent.',
};

/** The English texts, complete. */
export const ENGLISH: Messages = Object.freeze<Messages>({
  ...ERRORS,
  locale: 'en',
  label: 'File upload',
  dropFile: 'Drop a file here',
  dropFiles: 'Drop files here',
  dropNow: 'Let go to add',
  chooseFile: 'Choose a file',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  upTo: (size) => `up to ${size} each`,
  atMost: (count) => `at most ${files(count)}`,
  reading: (count) => `Reading folders… ${files(count)} found`,
  emptyFolders: (count) =>
    count === 1 ? '1 empty folder was left out.' : `${count} empty folders were left out.`,
  unreadable: (count) => `${files(count)} could not be read and ${count === 1 ? 'was' : 'were'} left out.`,
  list: 'Files',
  phases: {
    queued: 'Waiting',
    hashing: 'Checking…',
    uploading: 'Uploading',
    committing: 'Finishing…',
    done: 'Done',
    paused: 'Paused',
    failed: 'Not uploaded',
    canceled: 'Canceled',
  },
  pauseReasons: {
    user: 'Paused',
    offline: 'Waiting for connection',
    'signed-out': 'Waiting for sign-in',
    challenge: 'Waiting for sign-in',
    'rate-limited': 'Waiting, the service is busy',
    'other-tab': 'Uploading in another tab',
    'needs-file': 'Choose the file again to go on',
  },
  retrying: 'Trying again…',
  pause: 'Pause',
  resume: 'Resume',
  chooseAgain: 'Choose the file again',
  cancel: 'Cancel',
  retry: 'Retry',
  uploadAs: (name) => `Upload as ${name}`,
  first: 'Upload first',
  remove: 'Remove from list',
  actionOn: (action, name) => `${action}: ${name}`,
  start: (count) => `Upload ${files(count)}`,
  pauseAll: 'Pause all',
  resumeAll: 'Resume all',
  cancelAll: 'Cancel all',
  retryFailed: 'Retry failed',
  clear: 'Clear finished',
  progress: 'Progress of all files',
  progressOf: (name) => `Progress of ${name}`,
  sizeOf: (sent, total) => `${sent} of ${total}`,
  left: (duration) => `${duration} left`,
  soon: 'a few seconds left',
  doneOf: (done, count) => `${done.toLocaleString('en')} of ${files(count)} done`,
  rejected: (count) => `${files(count)} ${count === 1 ? 'was' : 'were'} not added`,
  limit: (limit) => `Accepted: ${limit}.`,
  more: (count) => `and ${count} more`,
  dismiss: 'Dismiss',
  signInTitle: 'Sign in to upload',
  signInText: 'A window opens for it. Your files stay here.',
  signIn: 'Sign in',
  popupTitle: 'Continue in the sign-in window',
  popupText: 'The upload goes on by itself as soon as you are signed in.',
  popupLostTitle: 'Waiting for the sign-in window',
  popupLostText: 'If you closed it, open it again.',
  openAgain: 'Open again',
  continueHere: 'Continue on this page',
  redirectText: 'Signing in leaves this page. Files that are not done then have to be chosen again.',
  signingIn: 'Signing you in…',
  coolingTitle: 'One moment, please',
  coolingText: (duration) =>
    `The service is busy. It goes on by itself${duration === undefined ? ' soon' : ` in about ${duration}`}.`,
  tryAgain: 'Try again',
  announceStarted: (count) => `Uploading ${files(count)}.`,
  announceSums: (percent, done, count, left) =>
    `${percent} uploaded, ${done} of ${files(count)} done${left === undefined ? '' : `, ${left}`}.`,
  announceFinished: (done, failed, canceled) =>
    [
      done > 0 || failed + canceled === 0 ? `Finished: ${files(done)} uploaded.` : 'Finished.',
      failed > 0 ? `${files(failed)} not uploaded.` : '',
      canceled > 0 ? `${files(canceled)} canceled.` : '',
    ]
      .filter(Boolean)
      .join(' '),
  announceFailed: (count, name, sentence) =>
    count === 1 ? `${name}: ${sentence}` : `${files(count)} not uploaded. ${name}: ${sentence}`,
  announceRejected: (count, name, sentence) =>
    count === 1
      ? `${name} was not added. ${sentence}`
      : `${files(count)} were not added. ${name}: ${sentence}`,
});

// Test cases of rows: a file, and the expected content of its row.

import { file } from '../../demo/states/snapshots.ts';
import type { ErrorCode, FileSnapshot, PauseReason, Phase } from '../../src/index.ts';

/** Test cases by title, each with the input and the expected outline. */
export type Cases<T> = Readonly<Record<string, readonly [shown: T, lines: readonly string[]]>>;

/** Expected content of a row, without the name. */
export interface RowLooks {
  /** Icon of the mark on the badge, which shows the kind of the file. */
  readonly mark?: string;
  /** Values of the progress bar, and its width. */
  readonly bar?: string;
  readonly status: string;
  readonly problem?: string;
  readonly more?: string;
  /** Buttons of the row, each with its icon. */
  readonly actions: readonly string[];
}

const MB = 1_000_000;
export const speeds = { bytesPerSecond: 8.24 * MB, remainingMs: 21_000 };
export const pdf = (phase: Phase, share = 0, more: Partial<FileSnapshot> = {}): FileSnapshot =>
  file('a.pdf', phase, 2 * MB, share, more);
export const paused = (pauseReason: PauseReason): FileSnapshot => pdf('paused', 0.5, { pauseReason });
export const failed = (code: ErrorCode): FileSnapshot =>
  pdf('failed', 0.5, { error: { code, retryable: true } });

const [PAUSE, CANCEL, REMOVE, RETRY, RESUME] = [
  'Pause <pause>',
  'Cancel <close>',
  'Remove from list <close>',
  'Retry <retry>',
  'Resume <resume>',
] as const;

export const ROWS: Readonly<Record<string, readonly [FileSnapshot, RowLooks]>> = {
  waits: [pdf('queued'), { status: 'Waiting · 2 MB', actions: [PAUSE, CANCEL] }],
  'is checked': [
    pdf('hashing', 0, { sizeBytes: 20 * MB }),
    {
      bar: 'sent 0%',
      status: 'Preparing… · 20 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is checked, and is small': [
    pdf('hashing'),
    {
      bar: 'valuenow=0 valuetext=0% sent 0%',
      status: 'Preparing… · 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is checked again, with bytes of an earlier run': [
    pdf('hashing', 0.5),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Preparing… · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is sent': [
    pdf('uploading', 0.26, speeds),
    {
      bar: 'valuenow=26 valuetext=26% sent 26%',
      status: 'Uploading · 26% · 25 sec left · 520 kB of 2 MB · 8.2 MB/s',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is sent, at an unknown speed': [
    pdf('uploading', 0.5),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Uploading · 50% · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is almost sent': [
    pdf('uploading', 0.999, { bytesPerSecond: 1, remainingMs: 9_000 }),
    {
      bar: 'valuenow=99 valuetext=99% sent 99%',
      status: 'Uploading · 99% · a few seconds left · 2 MB of 2 MB · 1 byte/s',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is handed over, without a response': [
    pdf('uploading', 0.999_999_5, speeds),
    {
      bar: 'valuenow=99 valuetext=99% sent 99%',
      status: 'Finishing… · 99% · 2 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is sent, with a warning': [
    pdf('uploading', 0.5, { warning: 'store-full' }),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Uploading · 50% · 1 MB of 2 MB',
      problem:
        "warning Your browser's storage is full, so this upload can't resume later. Keep this page open until it's done.",
      actions: [PAUSE, CANCEL],
    },
  ],
  'is retried soon': [
    pdf('uploading', 0.5, { ...speeds, retryAt: 1, lastError: { code: 'timeout', retryable: true } }),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Retrying… · The server took too long to respond · 50% · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is retried later': [
    pdf('uploading', 0.5, {
      ...speeds,
      retryAt: 25_000,
      lastError: { code: 'service-failed', retryable: true, status: 500 },
    }),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Retrying in 25 sec · Something went wrong on the server (500) · 50% · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is retried when the server is less busy': [
    pdf('uploading', 0.5, {
      retryAt: 25_000,
      lastError: { code: 'rate-limited', retryable: true, status: 429 },
    }),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Retrying in 25 sec · The server is busy (429) · 50% · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is finished': [
    pdf('committing', 1, speeds),
    {
      bar: 'valuenow=99 valuetext=99% sent 99%',
      status: 'Finishing… · 99% · 2 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is empty and sent': [
    file('a.pdf', 'uploading', 0),
    {
      bar: 'valuenow=0 valuetext=0% sent 0%',
      status: 'Finishing… · 0% · 0 kB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is done': [pdf('done'), { mark: 'done', status: 'Done · 2 MB', actions: [REMOVE] }],
  'is paused before its first byte': [
    pdf('paused', 0, { pauseReason: 'user' }),
    { status: 'Paused · 2 MB', actions: [RESUME, CANCEL] },
  ],
  'is paused by the user': [
    paused('user'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Paused · 50% · 1 MB of 2 MB',
      actions: [RESUME, CANCEL],
    },
  ],
  'waits for the connection': [
    paused('offline'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Waiting for connection · 50% · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'waits for sign-in': [
    paused('signed-out'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Waiting for sign-in · 50% · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'waits for a challenge': [
    paused('challenge'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Waiting for sign-in · 50% · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'waits for a busy service': [
    paused('rate-limited'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Server busy, retrying soon · 50% · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'is in another tab': [
    paused('other-tab'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Uploading in another tab · 50% · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'resumes after a reload': [
    paused('resuming'),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Resuming… · 50% · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'needs its file': [
    paused('needs-file'),
    {
      mark: 'alert',
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Choose the file again to continue · 50% · 1 MB of 2 MB',
      more: 'button choose-button label=Choose file: a.pdf Choose file',
      actions: [CANCEL],
    },
  ],
  'failed and can be retried': [
    failed('network'),
    {
      mark: 'alert',
      status: 'Upload failed · 2 MB',
      problem: "error We couldn't reach the server. Check your connection and try again.",
      actions: [RETRY, REMOVE],
    },
  ],
  'failed permanently': [
    failed('file-unreadable'),
    {
      mark: 'alert',
      status: 'Upload failed · 2 MB',
      problem:
        "error We couldn't read this file. Make sure it still exists and isn't open in another app, then choose it again.",
      actions: [REMOVE],
    },
  ],
  'failed since its name exists': [
    failed('name-taken'),
    {
      mark: 'alert',
      status: 'Upload failed · 2 MB',
      problem: 'error A file with this name already exists. Upload yours with a different name.',
      more: 'button rename-button Upload as a (2).pdf',
      actions: [REMOVE],
    },
  ],
  'failed for a missing permission': [
    failed('forbidden'),
    {
      mark: 'alert',
      status: 'Upload failed · 2 MB',
      problem: "error You don't have permission to upload here. Contact the site owner for access.",
      more: 'button go-button label=Try again: a.pdf Try again',
      actions: [REMOVE],
    },
  ],
  'is canceled': [pdf('canceled', 0.5), { status: 'Canceled · 2 MB', actions: [RETRY, REMOVE] }],
  'is in a folder and done': [
    pdf('done', 1, { relativePath: 'reports/2026/a.pdf' }),
    { mark: 'done', status: 'Done · 2 MB · 2026', actions: [REMOVE] },
  ],
  'is in a folder and sent': [
    pdf('uploading', 0.5, { relativePath: 'reports/2026/a.pdf' }),
    {
      bar: 'valuenow=50 valuetext=50% sent 50%',
      status: 'Uploading · 50% · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
};

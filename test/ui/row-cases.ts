// Test cases of rows: a file, and the expected content of its row.

import type { ErrorCode, FileSnapshot, PauseReason, Phase } from '../../src/index.ts';
import { file } from './fixtures/snapshots.ts';

/** Test cases by title, each with the input and the expected outline. */
export type Cases<T> = Readonly<Record<string, readonly [shown: T, lines: readonly string[]]>>;

/** Expected content of a row, without the name. */
export interface RowLooks {
  /** Name of the icon; `file` by default. */
  readonly icon?: string;
  readonly percent?: string;
  /** Values of the progress bar, and widths of its two shades. */
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
      bar: 'sent 0% stored 0%',
      status: 'Preparing… · 20 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is checked, and is small': [
    pdf('hashing'),
    {
      bar: 'valuenow=0 valuetext=0% sent 0% stored 0%',
      status: 'Preparing… · 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is checked again, with bytes of an earlier run': [
    pdf('hashing', 0.5),
    {
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Preparing… · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is sent': [
    pdf('uploading', 0.26, speeds),
    {
      percent: '26%',
      bar: 'valuenow=26 valuetext=26% sent 26% stored 20.8%',
      status: 'Uploading · 520 kB of 2 MB · 8.2 MB/s · 25 sec left',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is sent, at an unknown speed': [
    pdf('uploading', 0.5),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Uploading · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is almost sent': [
    pdf('uploading', 0.999, { bytesPerSecond: 1, remainingMs: 9_000 }),
    {
      percent: '99%',
      bar: 'valuenow=99 valuetext=99% sent 99% stored 79.9%',
      status: 'Uploading · 2 MB of 2 MB · 1 byte/s · a few seconds left',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is handed over, without a response': [
    pdf('uploading', 0.999_999_5, speeds),
    {
      percent: '99%',
      bar: 'valuenow=99 valuetext=99% sent 99% stored 80%',
      status: 'Finishing… · 2 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is sent, with a warning': [
    pdf('uploading', 0.5, { warning: 'store-full' }),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Uploading · 1 MB of 2 MB',
      problem:
        "warning Your browser's storage is full, so this upload can't resume later. Keep this page open until it's done.",
      actions: [PAUSE, CANCEL],
    },
  ],
  'is retried soon': [
    pdf('uploading', 0.5, { ...speeds, retryAt: 1, lastError: { code: 'timeout', retryable: true } }),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Retrying… · The server took too long to respond',
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
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Retrying in 25 sec · Something went wrong on the server (500)',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is retried when the server is less busy': [
    pdf('uploading', 0.5, {
      retryAt: 25_000,
      lastError: { code: 'rate-limited', retryable: true, status: 429 },
    }),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Retrying in 25 sec · The server is busy (429)',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is finished': [
    pdf('committing', 1, speeds),
    {
      percent: '99%',
      bar: 'valuenow=99 valuetext=99% sent 99% stored 80%',
      status: 'Finishing… · 2 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is empty and sent': [
    file('a.pdf', 'uploading', 0),
    {
      percent: '0%',
      bar: 'valuenow=0 valuetext=0% sent 0% stored 0%',
      status: 'Finishing… · 0 kB',
      actions: [PAUSE, CANCEL],
    },
  ],
  'is done': [pdf('done'), { icon: 'done', status: 'Done · 2 MB', actions: [REMOVE] }],
  'is paused before its first byte': [
    pdf('paused', 0, { pauseReason: 'user' }),
    { status: 'Paused · 2 MB', actions: [RESUME, CANCEL] },
  ],
  'is paused by the user': [
    paused('user'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Paused · 1 MB of 2 MB',
      actions: [RESUME, CANCEL],
    },
  ],
  'waits for the connection': [
    paused('offline'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Waiting for connection · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'waits for sign-in': [
    paused('signed-out'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Waiting for sign-in · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'waits for a challenge': [
    paused('challenge'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Waiting for sign-in · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'waits for a busy service': [
    paused('rate-limited'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Server busy, retrying soon · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'is in another tab': [
    paused('other-tab'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Uploading in another tab · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'resumes after a reload': [
    paused('resuming'),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Resuming… · 1 MB of 2 MB',
      actions: [CANCEL],
    },
  ],
  'needs its file': [
    paused('needs-file'),
    {
      icon: 'alert',
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Choose the file again to continue · 1 MB of 2 MB',
      more: 'button choose-button label=Choose file: a.pdf Choose file',
      actions: [CANCEL],
    },
  ],
  'failed and can be retried': [
    failed('network'),
    {
      icon: 'alert',
      status: 'Upload failed · 2 MB',
      problem: "error We couldn't reach the server. Check your connection and try again.",
      actions: [RETRY, REMOVE],
    },
  ],
  'failed permanently': [
    failed('file-unreadable'),
    {
      icon: 'alert',
      status: 'Upload failed · 2 MB',
      problem:
        "error We couldn't read this file. Make sure it still exists and isn't open in another app, then choose it again.",
      actions: [REMOVE],
    },
  ],
  'failed since its name exists': [
    failed('name-taken'),
    {
      icon: 'alert',
      status: 'Upload failed · 2 MB',
      problem: 'error A file with this name already exists. Upload yours with a different name.',
      more: 'button rename-button Upload as a (2).pdf',
      actions: [RETRY, REMOVE],
    },
  ],
  'is canceled': [pdf('canceled', 0.5), { status: 'Canceled · 2 MB', actions: [RETRY, REMOVE] }],
  'is in a folder and done': [
    pdf('done', 1, { relativePath: 'reports/2026/a.pdf' }),
    { icon: 'done', status: 'Done · 2 MB · reports/2026', actions: [REMOVE] },
  ],
  'is in a folder and sent': [
    pdf('uploading', 0.5, { relativePath: 'reports/2026/a.pdf' }),
    {
      percent: '50%',
      bar: 'valuenow=50 valuetext=50% sent 50% stored 40%',
      status: 'Uploading · 1 MB of 2 MB',
      actions: [PAUSE, CANCEL],
    },
  ],
};

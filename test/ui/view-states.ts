// Every state of the views. Tests check the outline, the accessibility, the texts and the fit of each of them.

import { file, STATES, snapshot } from '../../demo/states/snapshots.ts';
import type {
  AuthSnapshot,
  ErrorCode,
  FileSnapshot,
  PauseReason,
  Phase,
  Rejection,
  Snapshot,
} from '../../src/index.ts';
import { ENGLISH } from '../../src/locales/en.ts';
import type { WidgetState } from '../../src/ui/views/state.ts';
import type { Shown } from './show.ts';

const MB = 1_000_000;
const speeds = { bytesPerSecond: 8.24 * MB, remainingMs: 21_000 };
export const pdf = (phase: Phase, share = 0, more: Partial<FileSnapshot> = {}): FileSnapshot =>
  file('a.pdf', phase, 2 * MB, share, more);
const paused = (pauseReason: PauseReason): FileSnapshot => pdf('paused', 0.5, { pauseReason });
export const failed = (code: ErrorCode): FileSnapshot =>
  pdf('failed', 0.5, { error: { code, retryable: true } });
const A = pdf('queued');
const SENT = STATES.uploading as Snapshot;

/** Returns a list of files, which may have the same name. */
const list = (...files: readonly FileSnapshot[]): Shown => ({
  snapshot: snapshot(files.map((each, index) => ({ ...each, id: `id-${index}` }))),
});

const refused = (
  count: number,
  code: ErrorCode = 'file-type-refused',
  limit: { limit?: string | number } = { limit: '.pdf,image/*' },
): Shown => {
  const one = (index: number): Rejection =>
    ({
      id: `r${index}`,
      name: `${index}.exe`,
      relativePath: `in/\u202e${index}.exe`,
      sizeBytes: 1,
      code,
      ...limit,
    }) as Rejection;
  return { snapshot: snapshot([], { rejections: Array.from({ length: count }, (_, index) => one(index)) }) };
};

const auth = (
  auth: Partial<AuthSnapshot>,
  more: Partial<WidgetState> = {},
  files: readonly FileSnapshot[] = [A],
): Shown => ({ snapshot: snapshot(files, { auth: { required: true, ...auth } }), more });

const error = (code: ErrorCode): { error: NonNullable<AuthSnapshot['error']> } => ({
  error: { code, retryable: true },
});

/** The states, by title. A new state needs only its row here and its outline in view-outlines.txt. */
export const VIEW_STATES: Readonly<Record<string, Shown>> = {
  ...Object.fromEntries(Object.entries(STATES).map(([name, snapshot]) => [name, { snapshot }])),
  disabled: { rules: { disabled: true } },
  misconfigured: { more: { isMisconfigured: true } },
  'without its engine, which could not be loaded': { more: { failure: 'again' } },
  'without its engine, after another try': { more: { failure: 'reload' } },
  'with restored form values': { more: { restoredCount: 2 } },
  'while commands can be undone': {
    snapshot: SENT,
    more: { undo: { ids: new Set(SENT.files.map(({ id }) => id)), text: 'Upload canceled' } },
  },
  // Rows.
  'a row that waits': list(pdf('queued')),
  'a row that is checked': list(pdf('hashing', 0, { sizeBytes: 20 * MB })),
  'a row that is checked, and is small': list(pdf('hashing')),
  'a row that is checked again, with bytes of an earlier run': list(pdf('hashing', 0.5)),
  'a row that is sent': list(pdf('uploading', 0.26, speeds)),
  'a row that is sent, at an unknown speed': list(pdf('uploading', 0.5)),
  'a row that is almost sent': list(pdf('uploading', 0.999, { bytesPerSecond: 1, remainingMs: 9_000 })),
  'a row that is handed over, without a response': list(pdf('uploading', 0.999_999_5, speeds)),
  'a row that is sent, with a warning': list(pdf('uploading', 0.5, { warning: 'store-full' })),
  'a row that is retried soon': list(
    pdf('uploading', 0.5, { ...speeds, retryAtMs: 1, lastError: { code: 'timeout', retryable: true } }),
  ),
  'a row that is retried later': list(
    pdf('uploading', 0.5, {
      ...speeds,
      retryAtMs: 25_000,
      lastError: { code: 'service-failed', retryable: true, status: 500 },
    }),
  ),
  'a row that is retried when the server is less busy': list(
    pdf('uploading', 0.5, {
      retryAtMs: 25_000,
      lastError: { code: 'rate-limited', retryable: true, status: 429 },
    }),
  ),
  'a row that is finished': list(pdf('committing', 1, speeds)),
  'a row that is empty and sent': list(file('a.pdf', 'uploading', 0)),
  'a row that is done': list(pdf('done')),
  'a row that is paused before its first byte': list(pdf('paused', 0, { pauseReason: 'user' })),
  'a row that is paused by the user': list(paused('user')),
  'a row that waits for the connection': list(paused('offline')),
  'a row that waits for sign-in': list(paused('signed-out')),
  'a row that waits for a challenge': list(paused('challenge')),
  'a row that waits for a busy service': list(paused('rate-limited')),
  'a row that waits for the bytes of its file': list(paused('slow-file')),
  'a row that is in another tab': list(paused('other-tab')),
  'a row that resumes after a reload': list(paused('resuming')),
  'a row that needs its file': list(paused('needs-file')),
  'a row that failed and can be retried': list(failed('network')),
  'a row that failed permanently': list(failed('file-unreadable')),
  'a row that failed since its name exists': list(failed('name-taken')),
  'a row that failed for a missing permission': list(failed('forbidden')),
  'a row that is canceled': list(pdf('canceled', 0.5)),
  'a row that is in a folder and done': list(pdf('done', 1, { relativePath: 'reports/2026/a.pdf' })),
  'a row that is in a folder and sent': list(pdf('uploading', 0.5, { relativePath: 'reports/2026/a.pdf' })),
  // The footer.
  'the footer when one file is sent': list(pdf('uploading', 0.5, speeds)),
  'the footer when two files wait': list(pdf('queued'), pdf('queued')),
  'the footer when two files wait, with manual': {
    ...list(pdf('queued'), pdf('queued')),
    rules: { manual: true },
  },
  'the footer when two files are sent': list(pdf('uploading', 0.5, speeds), pdf('hashing')),
  'the footer when two files are sent at an unknown speed': list(
    pdf('uploading', 0.5),
    pdf('uploading', 0.5),
  ),
  'the footer when the last file is handed over': list(pdf('done'), pdf('uploading', 0.999_999_5, speeds)),
  'the footer when one file is handed over, and another one waits': list(
    pdf('uploading', 0.999_999_5),
    pdf('queued'),
  ),
  'the footer when two wait for the connection, and another for its turn': list(
    paused('offline'),
    paused('offline'),
    pdf('queued'),
  ),
  'the footer when two wait for different reasons': list(paused('offline'), paused('other-tab')),
  'the footer when two are paused by the user': list(paused('user'), paused('user')),
  'the footer when two wait for sign-in': list(paused('signed-out'), paused('signed-out')),
  'the footer when two wait for another proof of identity': list(paused('challenge'), paused('challenge')),
  'the footer when two wait for a busy service': list(paused('rate-limited'), paused('rate-limited')),
  'the footer when two need their files, one waits for another tab': list(
    paused('needs-file'),
    paused('other-tab'),
    paused('needs-file'),
  ),
  'the footer when one needs its file, one is paused by the user': list(paused('needs-file'), paused('user')),
  'the footer when one failed since its name exists, another one for a missing permission': list(
    failed('name-taken'),
    failed('forbidden'),
  ),
  'the footer when one failed, one is done': list(failed('network'), pdf('done')),
  'the footer when two are done': list(pdf('done'), pdf('done')),
  'the footer when one is canceled, one is empty': list(pdf('canceled'), file('b', 'queued', 0)),
  'the footer when one is canceled, one is empty, with manual': {
    ...list(pdf('canceled'), file('b', 'queued', 0)),
    rules: { manual: true },
  },
  'the footer when one is done, one is canceled': list(pdf('done'), pdf('canceled')),
  'the footer when two are canceled, of which one was half sent': list(pdf('canceled'), pdf('canceled', 0.5)),
  'the footer when one failed, one is canceled': list(failed('network'), pdf('canceled')),
  'the footer when one failed, one is sent': list(failed('network'), pdf('uploading', 0.5, speeds)),
  'the footer when all files wait to retry': list(
    pdf('uploading', 0.5, { ...speeds, retryAtMs: 25_000 }),
    pdf('uploading', 0.5, { retryAtMs: 12_000 }),
    pdf('queued'),
  ),
  'the footer when one file waits to retry': list(
    pdf('uploading', 0.5, { retryAtMs: 25_000 }),
    pdf('uploading', 0.5, speeds),
  ),
  // The drop zone.
  'the drop zone, empty': {},
  'the drop zone, for one file': { rules: { multiple: false, maxFiles: 3 } },
  'the drop zone, without folders': { rules: { directory: false } },
  'the drop zone, with every rule': {
    rules: { accept: 'image/*, .pdf,,text/plain', maxFileSize: 500 * MB, maxFiles: 20 },
  },
  'the drop zone, with a rule of one file': { rules: { maxFiles: 1 } },
  'the drop zone, above files, without the rules': { snapshot: snapshot([A]), rules: { accept: '.pdf' } },
  'the drop zone, under dragged files': { intake: { dragging: true } },
  'the drop zone, while the first folder is read': { intake: { readingCount: 0 } },
  'the drop zone, while one file was found': { intake: { readingCount: 1 } },
  'the drop zone, while many were found': { intake: { readingCount: 1280 } },
  'the drop zone, with one skipped folder': { intake: { emptyFolderCount: 1 } },
  'the drop zone, with two skipped folders': { intake: { emptyFolderCount: 2 } },
  // Rejected files.
  'rejected files: none': refused(0),
  'rejected files: one, for its type': refused(1),
  'rejected files: one, without a limit': refused(1, 'file-empty', {}),
  'rejected files: one, with an empty limit': refused(1, 'file-type-refused', { limit: '' }),
  'rejected files: one, for its size': refused(1, 'file-too-large', { limit: 5 * MB }),
  'rejected files: two, above the limit': refused(2, 'too-many-files', { limit: 1 }),
  // The panel of sign-in.
  'sign-in: signed out': auth({ state: 'signed-out' }),
  'sign-in: signed in': auth({ state: 'signed-in' }),
  'sign-in: silent': auth({ state: 'silent' }),
  'sign-in: asking the page': auth({ state: 'asking-host', mode: 'token' }),
  'sign-in: prompt that is not required': auth({ state: 'prompt', required: false }),
  'sign-in: prompt that is not required, after a failure': auth({
    state: 'prompt',
    required: false,
    ...error('popup-closed'),
  }),
  'sign-in: prompt': auth({ state: 'prompt' }),
  'sign-in: prompt in redirect mode': auth({ state: 'prompt', mode: 'redirect' }),
  'sign-in: prompt after the window was blocked, with files': auth({
    state: 'prompt',
    ...error('popup-blocked'),
  }),
  'sign-in: prompt after the window was blocked, with nothing to lose': auth(
    { state: 'prompt', ...error('popup-blocked') },
    {},
    [file('d', 'done', 1), file('c', 'canceled', 1)],
  ),
  'sign-in: prompt after another failure, with nothing to lose': auth(
    { state: 'prompt', ...error('popup-closed') },
    {},
    [],
  ),
  'sign-in: prompt after the page failed': auth({
    state: 'prompt',
    mode: 'token',
    ...error('host-token-failed'),
  }),
  'sign-in: popup': auth({ state: 'popup' }),
  'sign-in: popup, blocked and open again': auth({ state: 'popup', ...error('popup-blocked') }, {}, []),
  'sign-in: popup in token mode': auth({ state: 'popup', mode: 'token' }),
  'sign-in: popup-lost': auth({ state: 'popup-lost' }),
  'sign-in: redirecting': auth({ state: 'redirecting' }),
  'sign-in: exchange': auth({ state: 'exchange', required: false }),
  'sign-in: verify': auth({ state: 'verify' }),
  'sign-in: wait': auth({ state: 'wait' }),
  'sign-in: cooling': auth({ state: 'cooling', ...error('rate-limited') }),
  'sign-in: cooling for a while': auth(
    { state: 'cooling', ...error('rate-limited') },
    { secondsUntil: () => 30 },
  ),
  'sign-in: cooling for a while, in another language': auth(
    { state: 'cooling', ...error('rate-limited') },
    { secondsUntil: () => 30, messages: { ...ENGLISH, seconds: (count) => `${count} sekunder` } },
  ),
  'sign-in: cooling offline': auth({ state: 'cooling', ...error('offline') }),
  'sign-in: form': auth({ state: 'prompt', mode: 'local' }, { hasLogin: true }),
  'sign-in: form, its window open': auth({ state: 'popup', mode: 'local' }, { hasLogin: true }),
  'sign-in: form, its window perhaps closed': auth(
    { state: 'popup-lost', mode: 'local' },
    { hasLogin: true },
  ),
};

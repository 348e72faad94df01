// States of the list, each with its controls and their effects. A control that is missing or not listed fails the test.

import { UploaderError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/index.ts';
import { fileOf, freshFile } from '../support/bytes.ts';
import type { Kind } from '../support/scripted-service.ts';
import {
  createUnfinished,
  fileReaches,
  type Stage,
  type World,
  type WorldSettings,
  world,
} from '../support/world.ts';

/** Effect of a control: the engine's new state, or, if the state stays the same, the name of the control that appears. */
type Effect =
  | readonly string[]
  | ((before: readonly string[]) => readonly string[])
  | { readonly shows: string };

export interface Situation {
  readonly title: string;
  /** State of the engine, as lines of `stateOf`. */
  readonly state: readonly string[];
  readonly open: () => Promise<Stage>;
  /** Effects of all controls by accessible name, in Tab order. */
  readonly controls: Readonly<Record<string, Effect | typeof DISABLED | typeof FIELD>>;
}

/** Control that takes neither focus nor clicks. */
export const DISABLED = Symbol('disabled');
/** Control that takes text. */
export const FIELD = Symbol('field');

export const asks =
  (what: string) =>
  (before: readonly string[]): readonly string[] => [...before, what];
const PICKER = asks('picker: files');
export const CHOOSE = { 'Choose files': PICKER };

/** Two files that the service does not have. */
const [A, B] = [fileOf(1, 2500, 'a.txt'), fileOf(2, 2500, 'b.txt')];

/** Returns a function that opens a list with `files`. The service responds automatically to the kinds of requests in `answers`. */
const list =
  (answers: readonly Kind[], files: readonly File[], settings: WorldSettings = {}) =>
  async (): Promise<World<true>> => {
    const stage = await world({ element: true, answers, ...settings });
    await stage.element.addFiles(files);
    return stage;
  };

/** Returns a function that opens a list, waits until `a.txt` is in `phase`, and then calls `act`. */
const after =
  (opened: () => Promise<Stage>, phase: string, act: (stage: Stage, id: string) => Promise<void>) =>
  async (): Promise<Stage> => {
    const stage = await opened();
    await act(stage, await fileReaches(stage, 'a.txt', phase));
    return stage;
  };

/** Returns a function that opens a list with one file, whose session the service refuses with `code`. */
const refused = (code: ErrorCode) => async (): Promise<Stage> => {
  const stage = await list([], [A])();
  (await stage.service.nextRequest('open')).refuse(new UploaderError(code, 'refused'));
  return stage;
};

/** State of a list with a done, a failed, a paused, a canceled and an uploading file. */
const MIXED = [
  'done.txt done',
  'failed.txt failed',
  'paused.txt paused user',
  'canceled.txt canceled',
  'sent.txt uploading',
];

/** Returns the lines of `MIXED`, with `lines` in place of the lines about the same files. */
const mixed = (...lines: string[]): readonly string[] =>
  MIXED.map((line) => lines.find((each) => each.split(' ')[0] === line.split(' ')[0]) ?? line);

async function openMixed(): Promise<Stage> {
  const stage = await world({ element: true, answers: ['open', 'presign', 'put', 'commit', 'cancel'] });
  const { element, service } = stage;
  const add = async (name: string, phase: string): Promise<string> => {
    await element.addFiles(freshFile(1500, name));
    return fileReaches(stage, name, phase);
  };
  await add('done.txt', 'done');
  service.hold('open', 'put');
  await add('failed.txt', 'hashing');
  (await service.nextRequest('open')).refuse(new UploaderError('file-changed', 'refused'));
  await fileReaches(stage, 'failed.txt', 'failed');
  await element.pause(await add('paused.txt', 'hashing'));
  await element.cancel(await add('canceled.txt', 'hashing'));
  service.answerAll('open');
  await add('sent.txt', 'uploading');
  return stage;
}

const ENDED = ['done.txt done', 'failed.txt failed', 'canceled.txt canceled'];

/** Opens the list of `ENDED`. */
async function openEnded(): Promise<Stage> {
  const stage = await openMixed();
  const { element } = stage;
  for (const { id, name } of element.snapshot.files) if (/paused|sent/.test(name)) await element.remove(id);
  return stage;
}

/** Opens a list with an unfinished upload of an earlier visit, of which one chunk is stored. */
async function openEarlier(): Promise<Stage> {
  const baseUrl = `https://${crypto.randomUUID()}.test`;
  const store = await createUnfinished(A, { baseUrl });
  return world({ element: true, answers: ['cancel'], baseUrl, store });
}

/** Opens a list with a file that another tab uploads. */
async function openElsewhere(): Promise<Stage> {
  const baseUrl = `https://${crypto.randomUUID()}.test`;
  const other = world({ baseUrl });
  other.service.answerAll('open', 'presign');
  await other.uploader.addFiles(A);
  await other.service.nextRequest('put');
  return list(['cancel'], [A], { baseUrl })();
}

const ONE_OPEN = {
  ...CHOOSE,
  'Pause: a.txt': ['a.txt paused user'],
  'Cancel: a.txt': ['a.txt canceled'],
};

const ONE_ENDED = { 'Remove from list: a.txt': [] };

export const SITUATIONS: readonly Situation[] = [
  {
    title: 'an empty list',
    state: [],
    open: () => world({ element: true, directory: true }),
    controls: { ...CHOOSE, 'Choose a folder': ['picker: folder'] },
  },
  {
    title: 'an empty list for one file',
    state: [],
    open: () => world({ element: true, multiple: false }),
    controls: { 'Choose a file': PICKER },
  },
  {
    title: 'an empty list that is disabled',
    state: [],
    open: () => world({ element: true, directory: true, disabled: true }),
    controls: { 'Choose files': DISABLED, 'Choose a folder': DISABLED },
  },
  {
    title: 'one file that waits for the start button',
    state: ['a.txt queued'],
    open: list(['open'], [A], { manual: true }),
    controls: {
      ...ONE_OPEN,
      'Upload 1 file': ['a.txt hashing'],
      'More actions': { shows: 'Cancel all' },
    },
  },
  {
    title: 'two files that wait for the start button',
    state: ['a.txt queued', 'b.txt queued'],
    open: list(['open'], [A, B], { manual: true }),
    controls: {
      ...CHOOSE,
      'Pause: a.txt': ['a.txt paused user', 'b.txt queued'],
      'Cancel: a.txt': ['a.txt canceled', 'b.txt queued'],
      'Pause: b.txt': ['a.txt queued', 'b.txt paused user'],
      'Cancel: b.txt': ['a.txt queued', 'b.txt canceled'],
      'Upload 2 files': ['a.txt hashing', 'b.txt hashing'],
      'More actions': { shows: 'Cancel all' },
    },
  },
  {
    title: 'a file that is being checked',
    state: ['a.txt hashing'],
    open: list(['open'], [A]),
    controls: ONE_OPEN,
  },
  {
    title: 'a file that is being sent',
    state: ['a.txt uploading'],
    open: list(['open', 'presign'], [A]),
    controls: ONE_OPEN,
  },
  {
    title: 'a file that is being sent, in a list that is disabled',
    state: ['a.txt uploading'],
    open: after(list(['open', 'presign'], [A]), 'uploading', async ({ element }) => {
      element.disabled = true;
      await element.updateComplete;
    }),
    controls: { ...ONE_OPEN, 'Choose files': DISABLED },
  },
  {
    title: 'a file that is being committed',
    state: ['a.txt committing'],
    open: list(['open', 'presign', 'put'], [A]),
    controls: ONE_OPEN,
  },
  {
    title: 'a file that the user paused',
    state: ['a.txt paused user'],
    open: after(list(['open', 'presign'], [A]), 'uploading', ({ element }, id) => element.pause(id)),
    controls: {
      ...CHOOSE,
      'Resume: a.txt': ['a.txt uploading'],
      'Cancel: a.txt': ['a.txt canceled'],
    },
  },
  {
    title: 'a file that another tab uploads',
    state: ['a.txt paused other-tab'],
    open: openElsewhere,
    controls: { ...CHOOSE, 'Cancel: a.txt': ['a.txt canceled'] },
  },
  {
    title: 'a file of an earlier visit',
    state: ['a.txt paused needs-file'],
    open: openEarlier,
    controls: {
      ...CHOOSE,
      'Choose file: a.txt': asks('picker: one file'),
      'Cancel: a.txt': ['a.txt canceled'],
    },
  },
  {
    title: 'a file that is done',
    state: ['a.txt done'],
    open: list(['open', 'presign', 'put', 'commit'], [A]),
    controls: { ...CHOOSE, ...ONE_ENDED },
  },
  {
    title: 'a file that failed and can be retried',
    state: ['a.txt failed'],
    open: refused('file-changed'),
    controls: { ...CHOOSE, 'Retry: a.txt': ['a.txt hashing'], ...ONE_ENDED },
  },
  {
    title: 'a file that failed for a missing permission',
    state: ['a.txt failed'],
    open: refused('forbidden'),
    controls: { ...CHOOSE, 'Try again: a.txt': ['a.txt hashing'], ...ONE_ENDED },
  },
  {
    title: 'a file that failed permanently',
    state: ['a.txt failed'],
    open: refused('bad-config'),
    controls: { ...CHOOSE, ...ONE_ENDED },
  },
  {
    title: 'a file whose name exists',
    state: ['a.txt failed'],
    open: refused('name-taken'),
    controls: {
      ...CHOOSE,
      'Upload as a (2).txt': ['a (2).txt hashing'],
      ...ONE_ENDED,
    },
  },
  {
    title: 'a file that was canceled',
    state: ['a.txt canceled'],
    open: after(list(['cancel'], [A]), 'hashing', ({ element }, id) => element.cancel(id)),
    controls: { ...CHOOSE, 'Retry: a.txt': ['a.txt hashing'], ...ONE_ENDED },
  },
  {
    title: 'a list with every kind of file',
    state: MIXED,
    open: openMixed,
    controls: {
      ...CHOOSE,
      'Remove from list: done.txt': MIXED.slice(1),
      'Retry: failed.txt': mixed('failed.txt uploading'),
      'Remove from list: failed.txt': MIXED.filter((line) => line !== 'failed.txt failed'),
      'Resume: paused.txt': mixed('paused.txt uploading'),
      'Cancel: paused.txt': mixed('paused.txt canceled'),
      'Retry: canceled.txt': mixed('canceled.txt uploading'),
      'Remove from list: canceled.txt': MIXED.filter((line) => line !== 'canceled.txt canceled'),
      'Pause: sent.txt': mixed('sent.txt paused user'),
      'Cancel: sent.txt': mixed('sent.txt canceled'),
      'Resume all': mixed('paused.txt uploading'),
      'Retry failed files': mixed('failed.txt uploading'),
      'More actions': { shows: 'Cancel all' },
    },
  },
  {
    title: 'a list in which all files have ended',
    state: ENDED,
    open: openEnded,
    controls: {
      ...CHOOSE,
      'Remove from list: done.txt': ENDED.slice(1),
      'Retry: failed.txt': ['done.txt done', 'failed.txt uploading', 'canceled.txt canceled'],
      'Remove from list: failed.txt': ['done.txt done', 'canceled.txt canceled'],
      'Retry: canceled.txt': ['done.txt done', 'failed.txt failed', 'canceled.txt uploading'],
      'Remove from list: canceled.txt': ENDED.slice(0, 2),
      'Retry failed files': ['done.txt done', 'failed.txt uploading', 'canceled.txt canceled'],
      'More actions': { shows: 'Clear finished' },
    },
  },
  {
    title: 'refused files',
    state: ['1.exe refused', '2.exe refused'],
    open: list([], [fileOf(1, 10, '1.exe'), fileOf(2, 10, '2.exe')], { accept: '.txt' }),
    controls: { ...CHOOSE, Dismiss: [] },
  },
];

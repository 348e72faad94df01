// The states that the site and the pictures show, by name.

import type { Messages } from '../../src/core/messages.ts';
import { ENGLISH } from '../../src/locales/en.ts';
import { createFormat } from '../../src/ui/format.ts';
import { STATES } from './snapshots.ts';
import type { WidgetFixture } from './widget-fixture.ts';

/** Titles of the states, in the order of the site. */
export const TITLES: Readonly<Record<string, string>> = {
  empty: 'Before the first file',
  rules: 'With limits',
  dragging: 'A file is dragged over it',
  reading: 'Reading a folder',
  one: 'One file',
  uploading: 'Several files',
  manual: 'Started by a button',
  folders: 'Folders',
  many: 'Many files, one of them failed',
  'ten-thousand': 'Ten thousand files',
  names: 'Long and hostile names',
  phases: 'Every state of a file',
  offline: 'Offline',
  errors: 'Failed and refused files',
  causes: 'Several files with the same cause',
  failures: 'All files failed',
  'needs-file': 'After a reload',
  undo: 'After a cancel',
  finished: 'Finished',
  'sign-in-prompt': 'Sign-in is needed',
  'sign-in-blocked': 'The window was blocked',
  'sign-in-popup': 'Sign-in in a window',
  'sign-in-lost': 'The window may be closed',
  'sign-in-exchange': 'Signing in',
  'sign-in-cooling': 'Too many sign-ins',
};

/** Sets up a fixture for a state. */
export function showState(fixture: WidgetFixture, state: string): void {
  const { rules, intake } = fixture;
  const errors = STATES.errors ?? fixture.snapshot;
  const canceled = errors.files.filter(({ phase }) => phase === 'canceled');
  const prompt = STATES['sign-in-prompt'] ?? fixture.snapshot;
  const changes: Readonly<Record<string, Partial<WidgetFixture>>> = {
    dragging: { intake: { ...intake, dragging: true } },
    reading: { intake: { ...intake, readingCount: 128 } },
    rules: { rules: { ...rules, accept: 'image/*,.pdf,.xlsx', maxFileSize: 500_000_000, maxFiles: 20 } },
    manual: {
      rules: { ...rules, manual: true },
      snapshot: { ...prompt, auth: { state: 'signed-in', mode: 'popup', required: false } },
    },
    undo: {
      snapshot: errors,
      more: {
        undo: { ids: new Set(canceled.map(({ id }) => id)), text: ENGLISH.undoableCancel(canceled.length) },
      },
    },
  };
  Object.assign(fixture, changes[state] ?? { snapshot: STATES[state] ?? fixture.snapshot });
}

/** Shows a fixture in another language. */
export function translate(fixture: WidgetFixture, messages: Messages): void {
  const { undo } = fixture.more;
  fixture.more = {
    ...fixture.more,
    messages,
    format: createFormat(messages.locale),
    undo: undo && { ...undo, text: messages.undoableCancel(undo.ids.size) },
  };
}

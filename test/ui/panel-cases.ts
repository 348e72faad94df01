// The drop zone and the refused files as they are shown: what the widget knows, and the lines of its outline (test/ui/outline.ts).

import type { ErrorCode, Rejection, Snapshot } from '../../src/index.ts';
import type { Intake, Rules, WidgetState } from '../../src/ui/views/state.ts';
import { file, snapshot } from './fixtures/snapshots.ts';
import type { Cases } from './row-cases.ts';

/** What is other than in an empty widget. */
export interface Shown {
  readonly snapshot?: Snapshot;
  readonly rules?: Partial<Rules>;
  readonly intake?: Partial<Intake>;
  readonly more?: Partial<WidgetState>;
}

const MB = 1_000_000;
const A = file('a.pdf', 'queued', 2 * MB);

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

/** The drop zone and the notices below it. */
export const ZONES: Cases<Shown> = {
  empty: [
    {},
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'for one file': [
    { rules: { multiple: false, maxFiles: 3 } },
    [
      'drop-zone',
      'title Drop a file here',
      'button browse-button Choose a file',
      'button folder-button Choose a folder',
    ],
  ],
  'without folders': [
    { rules: { directory: false } },
    ['drop-zone', 'title Drop files here', 'button browse-button Choose files'],
  ],
  'with every rule': [
    { rules: { accept: 'image/*, .pdf,,text/plain', maxFileSizeBytes: 500 * MB, maxFiles: 20 } },
    [
      'drop-zone',
      'title Drop files here',
      'hint image, PDF, text/plain · up to 500 MB each · at most 20 files',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'with a rule of one file': [
    { rules: { maxFiles: 1 } },
    [
      'drop-zone',
      'title Drop files here',
      'hint at most 1 file',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'above files, whose rules are not shown': [
    { snapshot: snapshot([A]), rules: { accept: '.pdf' } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'under files that are held': [
    { intake: { dragging: true } },
    [
      'drop-zone dragging',
      'title Let go to add',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'while the first folder is read': [
    { intake: { readingCount: 0 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice Reading folders… 0 files found',
    ],
  ],
  'while one file was found': [
    { intake: { readingCount: 1 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice Reading folders… 1 file found',
    ],
  ],
  'while many were found': [
    { intake: { readingCount: 1280 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice Reading folders… 1,280 files found',
    ],
  ],
  'with one folder left out': [
    { intake: { emptyFolderCount: 1 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice 1 empty folder was left out.',
    ],
  ],
  'with two folders left out': [
    { intake: { emptyFolderCount: 2 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice 2 empty folders were left out.',
    ],
  ],
  'with one file left out': [
    { intake: { unreadableCount: 1 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice 1 file could not be read and was left out.',
    ],
  ],
  'with two files left out': [
    { intake: { unreadableCount: 2 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice 2 files could not be read and were left out.',
    ],
  ],
};

/** Refused files. */
export const REFUSED: Cases<Shown> = {
  none: [refused(0), []],
  'one, for its type': [
    refused(1),
    [
      'rejections label=1 file was not added',
      'title 1 file was not added',
      'rejection in/0.exe This type of file is not accepted here. Choose another one. Accepted: PDF, image.',
      'icon-button label=Dismiss title=Dismiss <close>',
    ],
  ],
  'one, without a limit': [
    refused(1, 'file-empty', {}),
    [
      'rejections label=1 file was not added',
      'title 1 file was not added',
      'rejection in/0.exe This file is empty. Choose one with something in it.',
      'icon-button label=Dismiss title=Dismiss <close>',
    ],
  ],
  'one, with an empty limit': [
    refused(1, 'file-type-refused', { limit: '' }),
    [
      'rejections label=1 file was not added',
      'title 1 file was not added',
      'rejection in/0.exe This type of file is not accepted here. Choose another one.',
      'icon-button label=Dismiss title=Dismiss <close>',
    ],
  ],
  'one, for its size': [
    refused(1, 'file-too-large', { limit: 5 * MB }),
    [
      'rejections label=1 file was not added',
      'title 1 file was not added',
      'rejection in/0.exe This file is too large. Choose a smaller one. Accepted: up to 5 MB each.',
      'icon-button label=Dismiss title=Dismiss <close>',
    ],
  ],
  'two, since they are too many': [
    refused(2, 'too-many-files', { limit: 1 }),
    [
      'rejections label=2 files were not added',
      'title 2 files were not added',
      'rejection in/0.exe That is more files than are accepted here. Remove some first. Accepted: at most 1 file.',
      'rejection in/1.exe That is more files than are accepted here. Remove some first. Accepted: at most 1 file.',
      'icon-button label=Dismiss title=Dismiss <close>',
    ],
  ],
};

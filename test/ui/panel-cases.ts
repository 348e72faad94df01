// Test cases of the drop zone and of rejected files: input of the widget, and expected outline (test/ui/outline.ts).

import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { ErrorCode, Rejection } from '../../src/index.ts';
import type { Cases } from './row-cases.ts';
import type { Shown } from './show.ts';

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

/** Cases of the drop zone and of the notices below the drop zone. */
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
      'hint Image, PDF, or text/plain · up to 500 MB per file · at most 20 files',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'with a rule of one file': [
    { rules: { maxFiles: 1 } },
    [
      'drop-zone',
      'title Drop files here',
      'hint At most 1 file',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'above files, without the rules': [
    { snapshot: snapshot([A]), rules: { accept: '.pdf' } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
    ],
  ],
  'under dragged files': [
    { intake: { dragging: true } },
    [
      'drop-zone dragging',
      'title Drop to upload',
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
  'with one skipped folder': [
    { intake: { emptyFolderCount: 1 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice 1 empty folder was skipped.',
    ],
  ],
  'with two skipped folders': [
    { intake: { emptyFolderCount: 2 } },
    [
      'drop-zone',
      'title Drop files here',
      'button browse-button Choose files',
      'button folder-button Choose a folder',
      'notice 2 empty folders were skipped.',
    ],
  ],
};

/** Cases of the list of rejected files. */
export const REFUSED: Cases<Shown> = {
  none: [refused(0), []],
  'one, for its type': [
    refused(1),
    [
      "rejections label=1 file wasn't added",
      "title 1 file wasn't added",
      'rejection-reason File type not allowed. Choose another file. Allowed: PDF or image.',
      'rejection in/0.exe',
      'icon-button title=Dismiss <close>',
    ],
  ],
  'one, without a limit': [
    refused(1, 'file-empty', {}),
    [
      "rejections label=1 file wasn't added",
      "title 1 file wasn't added",
      'rejection-reason Empty file. Choose another one.',
      'rejection in/0.exe',
      'icon-button title=Dismiss <close>',
    ],
  ],
  'one, with an empty limit': [
    refused(1, 'file-type-refused', { limit: '' }),
    [
      "rejections label=1 file wasn't added",
      "title 1 file wasn't added",
      'rejection-reason File type not allowed. Choose another file.',
      'rejection in/0.exe',
      'icon-button title=Dismiss <close>',
    ],
  ],
  'one, for its size': [
    refused(1, 'file-too-large', { limit: 5 * MB }),
    [
      "rejections label=1 file wasn't added",
      "title 1 file wasn't added",
      'rejection-reason Too large. Choose a smaller file. Allowed: up to 5 MB per file.',
      'rejection in/0.exe',
      'icon-button title=Dismiss <close>',
    ],
  ],
  'two, above the limit': [
    refused(2, 'too-many-files', { limit: 1 }),
    [
      "rejections label=2 files weren't added",
      "title 2 files weren't added",
      'rejection-reason Too many files. Remove one to add another. Allowed: at most 1 file.',
      'rejection in/0.exe',
      'rejection in/1.exe',
      'icon-button title=Dismiss <close>',
    ],
  ],
};

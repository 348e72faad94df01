// What every view is given: the state to show and the commands to call. Views are functions of these and nothing else.

import type { FileRules } from '../../core/config.ts';
import type { FileId, PickedFile, Snapshot } from '../../core/types.ts';
import type { Format } from '../format.ts';
import type { Messages } from '../messages.ts';

/** All that decides what is on the screen. */
export interface WidgetState {
  readonly snapshot: Snapshot;
  readonly messages: Messages;
  readonly format: Format;
  readonly rules: Rules;
  readonly intake: Intake;
  /** The sign-in form stands in the place of the panel. */
  readonly hasLogin: boolean;
  /** Seconds until sign-in goes on by itself, while it pauses. */
  readonly signInPauseInS: number;
  /** The settings are wrong, so nothing can be done. */
  readonly isMisconfigured: boolean;
  /** Texts of the live regions. */
  readonly spoken: { readonly polite: string; readonly alert: string };
  /** The rows that are rendered; the space of the others stands before and after them, in pixels. */
  readonly rows: RowRange;
}

/** What is being dragged or read, and what the last drop left out. */
export interface Intake {
  /** Files are held over the widget. */
  readonly dragging: boolean;
  /** Files found so far while dropped folders are being read. */
  readonly readingCount: number | undefined;
  readonly emptyFolderCount: number;
  readonly unreadableCount: number;
}

/** What may be picked, as the drop zone shows it: the parsed settings, and what only the element has. */
export interface Rules extends FileRules {
  readonly directory: boolean;
  readonly disabled: boolean;
}

/** `first` is included, `last` is not. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
  readonly before: number;
  readonly after: number;
}

/** What a user can do. Without an id a command is for all files. */
export interface Commands {
  addFiles(files: Iterable<PickedFile | File>): void;
  browse(kind?: 'files' | 'folder'): void;
  start(): void;
  pause(id?: FileId): void;
  resume(id?: FileId): void;
  cancel(id?: FileId): void;
  retry(id?: FileId, name?: string): void;
  prioritize(id: FileId): void;
  remove(id: FileId): void;
  clear(): void;
  dismiss(): void;
  signIn(via?: 'popup' | 'redirect'): void;
  cancelSignIn(): void;
}

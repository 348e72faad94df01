// The parameters of all views: state and commands. Views are pure functions of them.

import type { FileRules } from '../../core/config.ts';
import type { FileId, PickedFile, Snapshot } from '../../core/types.ts';
import type { Format } from '../format.ts';
import type { Messages } from '../messages.ts';

/** The state that views render. */
export interface WidgetState {
  readonly snapshot: Snapshot;
  readonly messages: Messages;
  readonly format: Format;
  readonly rules: Rules;
  readonly intake: Intake;
  /** The sign-in form replaces the panel. */
  readonly hasLogin: boolean;
  /** Seconds until sign-in retries automatically, during a backoff. */
  readonly signInPauseInS: number;
  /** The settings are invalid. */
  readonly isMisconfigured: boolean;
  /** Texts of the live regions. */
  readonly spoken: { readonly polite: string; readonly alert: string };
  /** The rendered rows, and the space of the others before and after them in pixels. */
  readonly rows: RowRange;
}

/** What is being dragged or read, and what was skipped in the last drop. */
export interface Intake {
  /** Files are dragged over the element. */
  readonly dragging: boolean;
  /** Number of files found so far in dropped folders. */
  readonly readingCount: number | undefined;
  readonly emptyFolderCount: number;
  readonly unreadableCount: number;
}

/** The limits that the drop zone shows: parsed settings, and properties of the element. */
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

/** The user's commands. Without an id they apply to all files. */
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

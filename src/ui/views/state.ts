// The parameters of the views: state and commands. Views are pure functions.

import type { FileRules } from '../../core/config.ts';
import type { Messages } from '../../core/messages.ts';
import type { FileId, PickedFile, Snapshot, UnreadableFile } from '../../core/types.ts';
import type { Spoken } from '../announcer.ts';
import type { Causes } from '../causes.ts';
import type { Format } from '../format.ts';
import type { ThumbnailOf } from '../late-thumbnails.ts';
import type { Line } from '../row-order.ts';
import type { LoadFailure } from '../uploads-controller.ts';

/** The state of the drop zone and of what surrounds the list. */
export interface FrameState {
  readonly snapshot: Snapshot;
  readonly messages: Messages;
  readonly format: Format;
  /** Text of the element's `<label>`; empty without a label. */
  readonly label: string;
  readonly rules: Rules;
  readonly intake: Intake;
  /** True if the settings are invalid. */
  readonly isMisconfigured: boolean;
  /** Why there is no list, if its code could not be loaded. */
  readonly failure?: LoadFailure | undefined;
  /**
   * Names of the slots that have content. Footer and rows have a slot only then: in WebKit, the page's scroll position is lost when
   * slots are added or removed, and in Chromium, Tab does not reach a menu in a slot.
   */
  readonly slots: ReadonlySet<string>;
  /** Texts of the live regions. */
  readonly spoken: Spoken;
  /** Number of form values that the browser restored. Their files are not in the list. */
  readonly restoredCount: number;
}

/** The state that the views of the list render, too. */
export interface WidgetState extends FrameState {
  /** True if the sign-in form replaces the sign-in panel. */
  readonly hasLogin: boolean;
  /** Returns the seconds until `atMs` (epoch milliseconds), or 0, and schedules the next rendering. */
  readonly secondsUntil: (atMs: number | undefined) => number;
  /** The command that can still be undone. */
  readonly undo?: UndoNotice | undefined;
  /** Returns the thumbnail of a file, if there is one. */
  readonly thumbnailOf?: ThumbnailOf | undefined;
  /** The row that was focused last. */
  readonly currentId?: Line['id'] | undefined;
  /** Files and folders, in the order of the list. */
  readonly lines: readonly Line[];
  /** What several files have in common. */
  readonly causes: Causes;
  /** Which of `lines` to render. */
  readonly rows: RowRange;
}

/** Files that were canceled or removed a moment ago, and the text about them. */
export interface UndoNotice {
  readonly ids: ReadonlySet<FileId>;
  readonly text: string;
}

/** The state of a drop: what is being dragged or read, and what was skipped. */
export interface Intake {
  /** True while files are dragged over the element. */
  readonly dragging: boolean;
  /** Number of dropped files found so far; `undefined` when reading is complete. */
  readonly readingCount: number | undefined;
  readonly emptyFolderCount: number;
}

/** The limits that the drop zone shows: parsed settings, and properties of the element. */
export interface Rules extends FileRules {
  readonly directory: boolean;
  readonly disabled: boolean;
  readonly layout?: string | undefined;
  readonly capture?: string | undefined;
}

/** Rows `start` (inclusive) to `end` (exclusive), and the height of the rows before and after them. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
  readonly beforePx: number;
  readonly afterPx: number;
}

/** What users can do without the list. */
export interface FrameCommands {
  addFiles(files: Iterable<PickedFile | UnreadableFile | File>): void;
  /** Adds the files of an `<input>`. */
  addInput(files: readonly File[]): void;
  browse(kind?: 'files' | 'folder'): void;
  /** Removes the form values that the browser restored. */
  dropRestored(): void;
  /** Loads the code of the list again. */
  tryAgain(): void;
}

/** What users can do. Without an id, a command applies to all files. */
export interface Commands extends FrameCommands {
  start(): void;
  pause(id?: FileId): void;
  resume(id?: FileId): void;
  /** Lets the user choose a folder again, for those of its files that need it. */
  chooseFolder(path: string): void;
  cancel(id?: FileId): void;
  cancelFolder(path: string): void;
  retry(id?: FileId, name?: string): void;
  retryFiles(ids: readonly FileId[]): void;
  remove(id: FileId): void;
  undo(id?: FileId): void;
  /** Stops the time in which a command can be undone, or continues it. */
  holdUndo(isHeld: boolean): void;
  clear(): void;
  dismiss(): void;
  signIn(via?: 'popup' | 'redirect'): void;
  cancelSignIn(): void;
}

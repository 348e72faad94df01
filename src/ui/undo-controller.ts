// Cancel and remove by button or key, which can be undone for some seconds. Meanwhile, the engine keeps the uploads in the state
// `withdrawn`. This module has their list and the timer.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { shownText } from '../core/names.ts';
import type { FileId, FileSnapshot, Snapshot } from '../core/types.ts';
import { reduceFile, totalsOf } from '../engine/snapshot-store.ts';
import type { UndoCommand } from '../engine/upload-state.ts';
import { focusRow } from './focus-controller.ts';
import type { Messages } from './messages.ts';
import { listenOnPage } from './page.ts';
import type { Undo } from './views/state.ts';

/** Time in which a command can be undone, in milliseconds. */
const UNDO_MS = 8000;
/** Time in which further activations count as the same one, as in a double click, in milliseconds. */
const REPEAT_MS = 500;

export interface UndoHost extends ReactiveControllerHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly snapshot: Snapshot;
  readonly texts: Messages;
}

/** Gives the engine a command. */
type Apply = (command: UndoCommand, ids: readonly FileId[]) => void;

/** The command that can be undone. Only the last command can; the next command completes it. */
interface Pending {
  readonly next: 'canceled' | 'removed';
  readonly ids: ReadonlySet<FileId>;
  /** Time left at `startMs`, in milliseconds. Without `startMs`, the timer is stopped. */
  readonly leftMs: number;
  readonly startMs?: number | undefined;
}

export class UndoController implements ReactiveController {
  readonly #host: UndoHost;
  readonly #apply: Apply;
  readonly #say: (text: string) => void;
  #pending: Pending | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(host: UndoHost, apply: Apply, say: (text: string) => void) {
    this.#host = host;
    this.#apply = apply;
    this.#say = say;
    host.addController(this);
    listenOnPage(host, 'pagehide', this.complete);
  }

  hostConnected(): void {
    this.#host.renderRoot.addEventListener('keydown', this.#onKey as EventListener);
  }

  hostDisconnected(): void {
    this.complete();
  }

  /** Cancels or removes one upload; without an id, or with the path of a folder, cancels all that are not done. */
  run(next: Pending['next'], id?: FileId): void {
    const nowMs = performance.now();
    const isRepeated = nowMs - this.#lastMs < REPEAT_MS;
    this.#lastMs = nowMs;
    if (isRepeated) return;
    const { files } = this.shown(this.#host.snapshot).snapshot;
    const isMeant = (file: FileSnapshot): boolean =>
      file.id === id || (isOpen(file) && (id === undefined || file.relativePath.startsWith(id)));
    const ids = new Set(files.filter(isMeant).map((file) => file.id));
    if (ids.size === 0) return;
    this.complete();
    this.#set({ next, ids, leftMs: UNDO_MS });
    this.#apply({ type: 'withdraw', next }, [...ids]);
    focusRow(this.#host.renderRoot, id, next === 'removed');
    const { texts } = this.#host;
    this.#say(texts.announceUndo(messageOf(next, ids, files, texts)));
    this.hold(false);
  }

  /** Undoes the command for one upload; without an id, for all. */
  undo(id?: FileId): void {
    const pending = this.#pending;
    if (!pending) return;
    const all = [...pending.ids];
    const ids = new Set(id === undefined ? [] : all.filter((each) => each !== id));
    this.#set(ids.size > 0 ? { ...pending, ids } : undefined);
    const restored = id === undefined ? all : [id];
    this.#apply({ type: 'undo' }, restored);
    const { texts, snapshot } = this.#host;
    this.#say(described(texts.announceRestored(restored.length), new Set(restored), snapshot.files, texts));
  }

  /** Completes the command at once. */
  readonly complete = (): void => {
    if (!this.#pending) return;
    const { ids } = this.#pending;
    this.#set(undefined);
    this.#apply({ type: 'complete' }, [...ids]);
  };

  /** Forgets a command of the user before, whose uploads leave the list. */
  forget(): void {
    if (this.#pending) this.#set(undefined);
  }

  /** Stops the time while the footer has the focus or the pointer, and continues it afterwards. */
  hold(isHeld: boolean): void {
    const pending = this.#pending;
    if (!pending || isHeld === (pending.startMs === undefined)) return;
    const nowMs = performance.now();
    const { startMs = nowMs } = pending;
    const leftMs = pending.leftMs - (nowMs - startMs);
    clearTimeout(this.#timer);
    this.#pending = { ...pending, leftMs, startMs: isHeld ? undefined : nowMs };
    if (!isHeld) this.#timer = setTimeout(this.complete, leftMs);
  }

  /** Returns the snapshot as it will be when the command is complete, and what can be undone. */
  shown(snapshot: Snapshot): { readonly snapshot: Snapshot; readonly undo?: Undo } {
    const pending = this.#pending;
    if (!pending) return { snapshot };
    const { next } = pending;
    const ids = new Set(
      snapshot.files
        .filter((file) => pending.ids.has(file.id) && (next === 'removed' || isOpen(file)))
        .map(({ id }) => id),
    );
    // Another command has ended all of them, such as a sign-out.
    if (ids.size === 0) return { snapshot };
    const name = next === 'removed' ? 'file-removed' : 'upload-canceled';
    const files = snapshot.files.flatMap((file) => {
      const after = ids.has(file.id) ? reduceFile(file, { name, detail: file }) : file;
      return after ? [after] : [];
    });
    const totals = totalsOf(files, () => snapshot.totals);
    return {
      snapshot: { ...snapshot, files, totals },
      undo: { ids, text: messageOf(next, ids, snapshot.files, this.#host.texts) },
    };
  }

  /** Ctrl+Z. What is in slots, and inputs, have an undo of their own. */
  readonly #onKey = (event: KeyboardEvent): void => {
    const { key, code, ctrlKey, metaKey, shiftKey, altKey, target } = event;
    // On keyboards with other letters, the key at the place of Z.
    const isZ = /^[a-z]$/i.test(key) ? key.toLowerCase() === 'z' : code === 'KeyZ';
    const isUndo = isZ && ctrlKey !== metaKey && !shiftKey && !altKey;
    const isOurs = this.#host.renderRoot.contains(target as Node) && !(target as Element).matches('input');
    if (!isUndo || !isOurs || !this.#pending) return;
    event.preventDefault();
    event.stopPropagation();
    this.undo();
  };

  #set(pending: Pending | undefined): void {
    if (!pending) clearTimeout(this.#timer);
    this.#pending = pending;
    this.#host.requestUpdate();
  }
}

const isOpen = ({ phase }: FileSnapshot): boolean => phase !== 'done' && phase !== 'canceled';

/** What was canceled or removed: the name, or the number of uploads. */
function messageOf(
  next: Pending['next'],
  ids: ReadonlySet<FileId>,
  files: readonly FileSnapshot[],
  texts: Messages,
): string {
  const text = next === 'removed' ? texts.undoableRemoval : texts.undoableCancel(ids.size);
  return described(text, ids, files, texts);
}

/** Adds the name to a text about one file. */
function described(
  text: string,
  ids: ReadonlySet<FileId>,
  files: readonly FileSnapshot[],
  { actionOn }: Messages,
): string {
  const [only] = ids.size === 1 ? files.filter(({ id }) => ids.has(id)) : [];
  return only ? actionOn(text, shownText(only.name)) : text;
}

// Cancel and remove by button or key: which files, what is said about it, and Ctrl+Z. The engine has the command and its time.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Messages } from '../core/messages.ts';
import { shownText } from '../core/names.ts';
import type { FileId, FileSnapshot } from '../core/types.ts';
import type { Undo, Undoable } from '../engine/undo.ts';
import { focusRow } from './focus-controller.ts';
import { listenOnPage } from './page.ts';
import type { UndoNotice } from './views/state.ts';

/** Time in which further activations count as the same one, as in a double click, in milliseconds. */
const REPEAT_MS = 500;

export interface UndoHost extends ReactiveControllerHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly texts: Messages;
}

export class UndoController implements ReactiveController {
  readonly #host: UndoHost;
  readonly #undo: Undo;
  readonly #say: (text: string) => void;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(host: UndoHost, undo: Undo, say: (text: string) => void) {
    this.#host = host;
    this.#undo = undo;
    this.#say = say;
    host.addController(this);
    listenOnPage(host, 'pagehide', () => void undo.complete());
  }

  hostConnected(): void {
    this.#host.renderRoot.addEventListener('keydown', this.#onKey as EventListener);
  }

  hostDisconnected(): void {
    void this.#undo.complete();
  }

  /** Cancels or removes `files`. The focus goes to the row `rowId`, or to the one beside it if it leaves. */
  run(outcome: Undoable['next'], files: readonly FileSnapshot[], rowId?: string): void {
    const nowMs = performance.now();
    const isRepeated = nowMs - this.#lastMs < REPEAT_MS;
    this.#lastMs = nowMs;
    if (isRepeated) return;
    if (files.length === 0) return;
    const ids = files.map(({ id }) => id);
    void this.#undo.withdraw(outcome, ids);
    this.#host.requestUpdate();
    focusRow(this.#host.renderRoot, rowId, outcome === 'removed');
    // After a tap, `:hover` stays at the footer, which loses the focus and would hold the time.
    this.#undo.hold(false);
    const { notice } = this;
    if (notice) this.#say(this.#host.texts.announceUndo(notice.text));
  }

  /** Undoes the command for one upload; without an id, for all. */
  undo(id?: FileId): void {
    const uploads = this.#undo.undoable?.uploads ?? [];
    const restored = uploads.filter((upload) => id === undefined || upload.id === id);
    if (restored.length === 0) return;
    void this.#undo.undo(id);
    this.#host.requestUpdate();
    const { texts } = this.#host;
    this.#say(withName(texts.announceRestored(restored.length), restored, texts));
  }

  /** What the footer says about the command that can be undone. */
  get notice(): UndoNotice | undefined {
    const { undoable } = this.#undo;
    if (!undoable) return undefined;
    const { next: outcome, uploads } = undoable;
    const { texts } = this.#host;
    const text = outcome === 'removed' ? texts.undoableRemoval : texts.undoableCancel(uploads.length);
    return { ids: new Set(uploads.map(({ id }) => id)), text: withName(text, uploads, texts) };
  }

  /** Ctrl+Z. What is in slots, and inputs, have an undo of their own. */
  readonly #onKey = (event: KeyboardEvent): void => {
    const { key, code, ctrlKey, metaKey, shiftKey, altKey, target } = event;
    // On keyboards with other letters, the key at the place of Z.
    const isZ = /^[a-z]$/i.test(key) ? key.toLowerCase() === 'z' : code === 'KeyZ';
    const isUndo = isZ && ctrlKey !== metaKey && !shiftKey && !altKey;
    const isOurs = this.#host.renderRoot.contains(target as Node) && !(target as Element).matches('input');
    if (!isUndo || !isOurs || !this.#undo.undoable) return;
    event.preventDefault();
    event.stopPropagation();
    this.undo();
  };
}

/** Adds the name to a text about one file. */
function withName(text: string, uploads: Undoable['uploads'], { actionOn }: Messages): string {
  const [only, ...others] = uploads;
  return only && others.length === 0 ? actionOn(text, shownText(only.name)) : text;
}

// Accepts dropped and pasted files. Also prevents the browser from opening files that are dropped elsewhere, because leaving the
// page would end all uploads.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import type { PickedFile } from '../core/types.ts';
import { readDrop } from './read-drop.ts';
import type { Intake } from './views/state.ts';

export interface DropHost extends ReactiveControllerHost, HTMLElement {
  readonly disabled: boolean;
}

const NOTHING: Intake = { dragging: false, readingCount: undefined, emptyFolderCount: 0, unreadableCount: 0 };

/** Listens on the page while its host is connected. */
export class DropController implements ReactiveController {
  /** State of the current or last drop, for the views. */
  intake: Intake = NOTHING;
  readonly #host: DropHost;
  readonly #onFiles: (files: readonly PickedFile[]) => void;
  readonly #onDragStart: () => void;
  readonly #isClosed: () => boolean;
  #connection = new AbortController();
  /** Number that is incremented to discard files that are still being read. */
  #generation = 0;

  /** `onDragStart` is called when files are dragged over the host. If `isClosed` returns true, files are ignored. */
  constructor(
    host: DropHost,
    onFiles: (files: readonly PickedFile[]) => void,
    onDragStart: () => void = () => undefined,
    isClosed: () => boolean = () => host.disabled,
  ) {
    this.#host = host;
    this.#onFiles = onFiles;
    this.#onDragStart = onDragStart;
    this.#isClosed = isClosed;
    host.addController(this);
  }

  hostConnected(): void {
    this.#connection = new AbortController();
    const options = { signal: this.#connection.signal };
    this.#host.addEventListener('dragenter', this.#onDragOver, options);
    this.#host.addEventListener('dragover', this.#onDragOver, options);
    this.#host.addEventListener('dragleave', this.#onDragLeave, options);
    this.#host.addEventListener('drop', this.#onDrop, options);
    globalThis.addEventListener('dragover', this.#onStray, options);
    globalThis.addEventListener('drop', this.#onStray, options);
    document.addEventListener('paste', this.#onPaste, options);
  }

  hostDisconnected(): void {
    this.#connection.abort();
    this.#setDragging(false);
  }

  /** Discards files that are still being read. Call this method when the user changes. */
  leave(): void {
    this.#generation += 1;
    this.#set(NOTHING);
  }

  /** Discards files that are still being read when the user signs out in this or another tab. */
  onChange(change: Change): void {
    if (change.name === 'signed-out' && change.detail.reason !== 'expired') this.leave();
  }

  #setDragging(dragging: boolean): void {
    if (dragging === this.intake.dragging) return;
    if (dragging) this.#onDragStart();
    this.#set({ ...this.intake, dragging });
  }

  readonly #onDragOver = (event: DragEvent): void => {
    if (!holdsFiles(event.dataTransfer) || this.#isClosed()) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    this.#setDragging(true);
  };

  readonly #onDragLeave = (event: DragEvent): void => {
    // `dragleave` also fires when the pointer moves between inner elements. These events are ignored.
    const isInside = event.relatedTarget instanceof Node && this.#host.contains(event.relatedTarget);
    if (!isInside) this.#setDragging(false);
  };

  readonly #onDrop = (event: DragEvent): void => {
    if (!holdsFiles(event.dataTransfer) || this.#isClosed()) return;
    event.preventDefault();
    this.#setDragging(false);
    this.#read(event.dataTransfer);
  };

  /** Prevents the browser from opening a file that is dropped elsewhere on the page. */
  readonly #onStray = (event: DragEvent): void => {
    this.#setDragging(this.intake.dragging && event.composedPath().includes(this.#host));
    const [target] = event.composedPath();
    const isForInput = target instanceof HTMLInputElement && target.type === 'file';
    if (event.defaultPrevented || isForInput || !holdsFiles(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'none';
  };

  readonly #onPaste = (event: ClipboardEvent): void => {
    const data = event.clipboardData;
    if (event.defaultPrevented || this.#isClosed() || !holdsFiles(data) || data.files.length === 0) return;
    const [target] = event.composedPath();
    const isText =
      target instanceof HTMLElement &&
      (target.isContentEditable || /^(INPUT|TEXTAREA)$/.test(target.tagName));
    const { activeElement } = document;
    const isForAnother = activeElement?.localName === this.#host.localName && activeElement !== this.#host;
    if (isText || isForAnother) return;
    event.preventDefault();
    this.#read(data);
  };

  #read(data: DataTransfer): void {
    const generation = this.#generation;
    let frame = 0;
    let readingCount = 0;
    const onFound = (count: number): void => {
      readingCount = count;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (generation === this.#generation) this.#set({ ...this.intake, readingCount });
      });
    };
    void readDrop(data, onFound).then(({ files, emptyFolderCount, unreadableCount }) => {
      cancelAnimationFrame(frame);
      if (generation !== this.#generation) return;
      this.#set({ ...NOTHING, emptyFolderCount, unreadableCount });
      this.#onFiles(files);
    });
  }

  #set(intake: Intake): void {
    this.intake = intake;
    this.#host.requestUpdate();
  }
}

const holdsFiles = (data: DataTransfer | null): data is DataTransfer =>
  data?.types.includes('Files') ?? false;

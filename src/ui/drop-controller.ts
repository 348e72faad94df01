// Accepts dropped and pasted files. Also prevents the browser from opening files that are dropped elsewhere, because leaving the
// page would end all uploads.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import type { PickedFile } from '../core/types.ts';
import { readDrop } from './read-drop.ts';
import type { Intake } from './views/state.ts';

export interface DropHost extends ReactiveControllerHost, HTMLElement {
  readonly disabled: boolean;
  /** With `overlay`, files can be dropped anywhere on the page. */
  readonly layout?: string | undefined;
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
  /** The last event over the drop target. */
  #accepted: DragEvent | undefined;
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
    for (const target of [this.#host, document] as readonly HTMLElement[]) {
      target.addEventListener('dragenter', this.#onDragOver, options);
      target.addEventListener('dragover', this.#onDragOver, options);
      target.addEventListener('dragleave', this.#onDragLeave, options);
      target.addEventListener('drop', this.#onDrop, options);
    }
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

  get #isOverlay(): boolean {
    return this.#host.layout === 'overlay';
  }

  /** Returns true if the drop target is under the pointer. An overlay leaves drop targets of the page and other uploaders alone. */
  #isOverTarget(event: DragEvent): boolean {
    return (
      event.currentTarget === this.#host ||
      (this.#isOverlay && !event.defaultPrevented && !isOverFileInput(event))
    );
  }

  readonly #onDragOver = (event: DragEvent): void => {
    if (!this.#isOverTarget(event) || !holdsFiles(event.dataTransfer) || this.#isClosed()) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    this.#accepted = event;
    this.#setDragging(true);
  };

  readonly #onDragLeave = (event: DragEvent): void => {
    // `dragleave` also fires when the pointer moves between inner elements. These events are ignored.
    const target = this.#isOverlay ? document : this.#host;
    const isInside = event.relatedTarget instanceof Node && target.contains(event.relatedTarget);
    if (!isInside && event.currentTarget === target) this.#setDragging(false);
  };

  readonly #onDrop = (event: DragEvent): void => {
    if (!this.#isOverTarget(event) || !holdsFiles(event.dataTransfer) || this.#isClosed()) return;
    event.preventDefault();
    this.#setDragging(false);
    this.#read(event.dataTransfer);
  };

  /** Prevents the browser from opening a file that is dropped elsewhere on the page. */
  readonly #onStray = (event: DragEvent): void => {
    this.#setDragging(this.intake.dragging && event === this.#accepted);
    if (event.defaultPrevented || isOverFileInput(event) || !holdsFiles(event.dataTransfer)) return;
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

function isOverFileInput(event: DragEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLInputElement && target.type === 'file';
}

const holdsFiles = (data: DataTransfer | null): data is DataTransfer =>
  data?.types.includes('Files') ?? false;

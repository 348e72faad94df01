// Accepts dropped and pasted files. Also prevents the browser from opening files that are dropped elsewhere, because leaving the
// page would end all uploads. Leaves everything else on the page alone.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { nextName } from '../core/names.ts';
import { pageOf } from './page.ts';
import { type DropContent, type FoundFile, readDrop, withoutSystemFiles } from './read-drop.ts';
import type { Intake } from './views/state.ts';

export interface DropHost extends ReactiveControllerHost, HTMLElement {
  readonly disabled: boolean;
  /** With `overlay`, files can be dropped anywhere on the page. */
  readonly layout?: string | undefined;
  /** As in `<input capture>`. */
  readonly capture?: string | undefined;
  readonly includeHidden?: boolean;
  readonly renderRoot?: ParentNode | undefined;
}

interface Reads {
  count: number;
  waitingCount: number;
}

const NOTHING: Intake = { dragging: false, readingCount: undefined, emptyFolderCount: 0 };

/** Time after which a drop is shown as being read although no file was found yet, in milliseconds. */
const SLOW_MS = 300;

/** Time in which `dragover` follows `dragleave` if the files are still over the element, in milliseconds. */
const LEAVE_MS = 200;

/** The last event that an uploader has prevented for the page. Another one can still take the files. */
let stray: Event | undefined;

/** Listens on the page while its host is connected. */
export class DropController implements ReactiveController {
  /** State of the current or last drop, for the views. */
  intake: Intake = NOTHING;
  readonly #host: DropHost;
  readonly #onFiles: (files: readonly FoundFile[]) => void;
  readonly #onDragStart: () => void;
  readonly #isClosed: () => boolean;
  #connection = new AbortController();
  /** The last event over the drop target. */
  #accepted: DragEvent | undefined;
  /** True while something of this page is dragged. Such a drag can contain a file, for example the one of an image. */
  #isOwnDrag = false;
  #leaveTimer: ReturnType<typeof setTimeout> | undefined;
  /** Number of drops that are being read, and of files that wait for the engine. Replaced to discard them. */
  #reads: Reads = { count: 0, waitingCount: 0 };

  /** `onDragStart` is called when files are dragged over the host. If `isClosed` returns true, files are ignored. */
  constructor(
    host: DropHost,
    onFiles: (files: readonly FoundFile[]) => void,
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
    const { signal } = this.#connection;
    const page = pageOf(this.#host);
    for (const type of ['dragenter', 'dragover', 'drop'] as const) {
      this.#host.addEventListener(type, this.#onDrag, { signal });
      listenLast(page, type, this.#onDrag as EventListener, signal);
    }
    listenLast(page, 'paste', this.#onPaste as EventListener, signal);
    // In the capture phase, because drop targets of the page may stop these events.
    page.addEventListener('dragleave', this.#onDragLeave, { capture: true, signal });
    page.addEventListener('drop', () => this.#setDragging(false), { capture: true, signal });
    page.addEventListener('dragstart', () => (this.#isOwnDrag = true), { capture: true, signal });
    // There are no pointer events during a drag. `dragend` is missing if the dragged element was removed.
    for (const type of ['dragend', 'pointermove', 'pointerdown'])
      page.addEventListener(type, this.#onDragEnd, { capture: true, signal });
  }

  hostDisconnected(): void {
    this.#connection.abort();
    this.#onDragEnd();
  }

  /** Ends the invitation when the host is disabled during a drag. */
  hostUpdate(): void {
    if (this.#isClosed()) this.#setDragging(false);
  }

  /** Discards files that are still being read. Call this method when the user changes. */
  leave(): void {
    this.#reads = { count: 0, waitingCount: 0 };
    this.#set(NOTHING);
  }

  /** True until the files of each `read()` are in the list, or the first of them. */
  get isReading(): boolean {
    return this.#reads.count > 0;
  }

  /** Reads files, and shows how many were found so far. Resolves with none if they are discarded. Never rejects. */
  async read(
    reader: (onFound: (count: number) => void) => Promise<DropContent>,
  ): Promise<readonly FoundFile[]> {
    const reads = this.#reads;
    let frame = 0;
    let readingCount = 0;
    reads.count += 1;
    // Otherwise, the same note about the next drop would not be announced.
    this.#set({ ...this.intake, emptyFolderCount: 0 });
    const onFound = (count: number): void => {
      readingCount = count;
      frame ||= pageOf(this.#host).requestAnimationFrame(() => {
        if (frame && reads === this.#reads)
          this.#set({ ...this.intake, readingCount: readingCount + reads.waitingCount });
        frame = 0;
      });
    };
    const timer = setTimeout(() => onFound(readingCount), SLOW_MS);
    const content = await reader(onFound);
    clearTimeout(timer);
    frame = 0;
    if (reads !== this.#reads) return [];
    const { files, emptyFolderCount } = this.#host.includeHidden ? content : withoutSystemFiles(content);
    const { intake } = this;
    this.#set({ ...intake, emptyFolderCount: intake.emptyFolderCount + emptyFolderCount });
    this.#endRead(reads);
    return files;
  }

  /**
   * Shows that `count` chosen files wait, until `end()` is called. `isDiscarded()` returns true after `leave()`: then they must not
   * be added.
   */
  showReading(count: number): { isDiscarded(): boolean; readonly end: () => void } {
    const reads = this.#reads;
    reads.count += 1;
    reads.waitingCount += count;
    this.#set({ ...this.intake, readingCount: reads.waitingCount });
    return {
      isDiscarded: () => reads !== this.#reads,
      end: () => {
        reads.waitingCount -= count;
        this.#endRead(reads);
      },
    };
  }

  /** Opens the picker of `input`, or the camera. Shows that the browser collects files after the picker has closed. */
  open(input: HTMLInputElement): void {
    const page = input.ownerDocument.defaultView;
    const { capture } = this.#host;
    if (capture && !input.webkitdirectory) input.setAttribute('capture', capture);
    else input.removeAttribute('capture');
    const end = new AbortController();
    const { signal } = end;
    const show = (readingCount?: number): void => {
      const { waitingCount } = this.#reads;
      this.#set({ ...this.intake, readingCount: waitingCount || readingCount });
    };
    const stop = (): void => {
      end.abort();
      show();
    };
    // Without a click of the user, no picker opens.
    if (page?.navigator.userActivation.isActive) {
      for (const type of ['change', 'cancel']) input.addEventListener(type, stop, { signal });
      page.addEventListener('focus', () => show(0), { signal });
    }
    input.click();
  }

  #endRead(reads: Reads): void {
    // By then, the files are in the list, or the first of them.
    setTimeout(() => {
      reads.count -= 1;
      if (reads !== this.#reads) return;
      const { count, waitingCount } = reads;
      if (count === 0) this.#set({ ...this.intake, readingCount: undefined });
      else if (waitingCount > 0) this.#set({ ...this.intake, readingCount: waitingCount });
    });
  }

  #setDragging(dragging: boolean): void {
    clearTimeout(this.#leaveTimer);
    this.#leaveTimer = undefined;
    if (dragging === this.intake.dragging) return;
    if (dragging) this.#onDragStart();
    this.#set({ ...this.intake, dragging });
  }

  /** Called for events over the host, then for all events of the page, if no other listener has handled them. */
  readonly #onDrag = (event: DragEvent): void => {
    const { currentTarget, type, dataTransfer } = event;
    if (event === this.#accepted) return;
    const isOver = currentTarget === this.#host;
    const isTaken = (event.defaultPrevented && event !== stray) || this.#takesFiles(event);
    // Over the shadow root, `target` is the host. Otherwise, the files are over an element in a slot.
    const isOverMine = isOver && event.target === this.#host;
    const isMine =
      holdsFiles(dataTransfer) &&
      !this.#isOwnDrag &&
      !this.#isClosed() &&
      (isOverMine || (!isTaken && (isOver || this.#host.layout === 'overlay')));
    if (isMine) {
      event.preventDefault();
      dataTransfer.dropEffect = 'copy';
      this.#accepted = event;
      stray = undefined;
      this.#setDragging(type !== 'drop');
      if (type === 'drop') void this.read((onFound) => readDrop(dataTransfer, onFound)).then(this.#onFiles);
    } else if (!isOver) {
      this.#setDragging(false);
      if (isTaken || !holdsFiles(dataTransfer) || this.#isOwnDrag) return;
      if (type !== 'drop' && isEditable(event)) return;
      stray = event;
      event.preventDefault();
      dataTransfer.dropEffect = 'none';
    }
  };

  readonly #onDragLeave = (event: DragEvent): void => {
    if (!this.intake.dragging) return;
    const { relatedTarget } = event;
    const target = this.#host.layout === 'overlay' ? this.#host.ownerDocument : this.#host;
    // Not every browser tells where the pointer is now. `dragover` then does.
    if (!relatedTarget) this.#leaveTimer ||= setTimeout(() => this.#setDragging(false), LEAVE_MS);
    else if (!target.contains(relatedTarget as Node)) this.#setDragging(false);
  };

  readonly #onDragEnd = (): void => {
    this.#isOwnDrag = false;
    this.#setDragging(false);
  };

  readonly #onPaste = (event: ClipboardEvent): void => {
    const clipboard = event.clipboardData;
    if (event.defaultPrevented || this.#isClosed() || !holdsFiles(clipboard) || clipboard.files.length === 0)
      return;
    if (isEditable(event) || holdsText(clipboard) || !this.#isWanted()) return;
    event.preventDefault();
    void this.read((onFound) => readDrop(clipboard, onFound)).then((files) =>
      this.#onFiles(files.map(named)),
    );
  };

  /** True if the element has the focus, or if it can be reached and nothing else could want the files. */
  #isWanted(): boolean {
    const { activeElement } = this.#host.getRootNode() as ShadowRoot;
    const { activeElement: inPage, body } = this.#host.ownerDocument;
    const focused = activeElement ?? inPage ?? body;
    return (
      focused === this.#host ||
      (focused.matches(':is(body, dialog, a, button, summary, [tabindex="-1"]):not([role])') &&
        !focused.localName.includes('-') &&
        this.#host.checkVisibility({ visibilityProperty: true }) &&
        !isCovered(this.#host))
    );
  }

  /** True over a file input, and over an element with a closed shadow root, which may contain one. */
  #takesFiles(event: Event): boolean {
    const target = targetOf(event);
    const { localName, type, shadowRoot, firstElementChild } = target;
    const isOpen =
      shadowRoot || firstElementChild || (this.#host.getRootNode() as ShadowRoot).host === target;
    return type === 'file' || (!isOpen && pageOf(target).customElements.get(localName) !== undefined);
  }

  #set(intake: Intake): void {
    this.intake = intake;
    this.#host.requestUpdate();
  }
}

const pastedNames = new Set<string>();

/** Age up to which a pasted file is a picture that the browser has just created, in milliseconds. */
const FRESH_MS = 60_000;

/** Gives a picture from the clipboard its own name. Browsers name each of them `image.png`, as of now. */
function named(pasted: FoundFile): FoundFile {
  const { file, relativePath } = pasted;
  if (relativePath !== 'image.png' || !file || Date.now() - file.lastModified > FRESH_MS) return pasted;
  let name = `image ${new Date().toLocaleString('sv').replaceAll(':', '.')}.png`;
  while (pastedNames.has(name)) name = nextName(name);
  pastedNames.add(name);
  return { file: new File([file], name, { type: 'image/png' }), relativePath: name };
}

/** Calls `listener` after the other listeners of the window, also after those that are added later. */
function listenLast(page: EventTarget, type: string, listener: EventListener, signal: AbortSignal): void {
  const remove = (): void => page.removeEventListener(type, listener);
  const moveToEnd = (): void => {
    remove();
    page.addEventListener(type, listener);
  };
  page.addEventListener(type, moveToEnd, { capture: true, signal });
  signal.addEventListener('abort', remove);
}

/** True if the element is inert or behind a modal dialog, also one without the browser's own modality. */
function isCovered(element: Element | undefined): boolean {
  if (!element) return false;
  const root = element.getRootNode() as ShadowRoot;
  const isBehind = (dialog: Element): boolean => dialog.checkVisibility() && !dialog.contains(element);
  return (
    element.closest('[inert], [aria-hidden=true]') !== null ||
    [...root.querySelectorAll(':modal, [aria-modal=true]')].some(isBehind) ||
    isCovered(root.host)
  );
}

const targetOf = (event: Event): HTMLInputElement => event.composedPath()[0] as HTMLInputElement;

const isEditable = (event: Event): boolean => Boolean(targetOf(event).matches?.(':read-write'));

const holdsFiles = (transfer: DataTransfer | null): transfer is DataTransfer =>
  transfer?.types.includes('Files') ?? false;

/** True if text was copied together with the files, for example cells with a picture of them. Paths of the files don't count. */
function holdsText(transfer: DataTransfer): boolean {
  const names = [...transfer.files].flatMap(({ name }) => [name, encodeURIComponent(name)]);
  const lines = transfer.getData('text/plain').split('\n');
  return lines.some((line) => line.trim() && !names.includes(line.trim().replace(/^.*[/\\]/, '')));
}

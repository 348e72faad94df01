// Accepts dropped and pasted files. Also prevents the browser from opening files that are dropped elsewhere, because leaving the
// page would end all uploads. Leaves everything else on the page alone.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import { nextName } from '../core/names.ts';
import { type DropContent, type FoundFile, readDrop, withoutSystemFiles } from './read-drop.ts';
import type { Intake } from './views/state.ts';

export interface DropHost extends ReactiveControllerHost, HTMLElement {
  readonly disabled: boolean;
  /** With `overlay`, files can be dropped anywhere on the page. */
  readonly layout?: string | undefined;
  readonly includeHidden?: boolean;
  readonly renderRoot?: ParentNode | undefined;
}

const NOTHING: Intake = { dragging: false, readingCount: undefined, emptyFolderCount: 0 };

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
  /** Number that is incremented to discard files that are still being read. */
  #generation = 0;

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
    const page = this.#host.ownerDocument.defaultView ?? globalThis;
    for (const type of ['dragenter', 'dragover', 'drop'] as const) {
      this.#host.addEventListener(type, this.#onDrag, { signal });
      listenLast(page, type, this.#onDrag as EventListener, signal);
    }
    listenLast(page, 'paste', this.#onPaste as EventListener, signal);
    page.addEventListener('dragleave', this.#onDragLeave, { signal });
    page.addEventListener('dragstart', () => (this.#isOwnDrag = true), { capture: true, signal });
    // There are no pointer events during a drag. `dragend` is missing if the dragged element was removed.
    for (const type of ['dragend', 'pointermove', 'pointerdown'])
      page.addEventListener(type, this.#onDragEnd, { capture: true, signal });
  }

  hostDisconnected(): void {
    this.#connection.abort();
    this.#onDragEnd();
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

  /** Reads files, and shows how many were found so far. Resolves with none if they are discarded. Never rejects. */
  async read(
    reader: (onFound: (count: number) => void) => Promise<DropContent>,
  ): Promise<readonly FoundFile[]> {
    const generation = this.#generation;
    let frame = 0;
    let readingCount = 0;
    // Otherwise, the same note about the next drop would not be announced.
    this.#set({ ...this.intake, emptyFolderCount: 0 });
    const content = await reader((count) => {
      readingCount = count;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (generation === this.#generation) this.#set({ ...this.intake, readingCount });
      });
    });
    cancelAnimationFrame(frame);
    if (generation !== this.#generation) return [];
    const { files, emptyFolderCount } = this.#host.includeHidden ? content : withoutSystemFiles(content);
    this.#set({ ...NOTHING, emptyFolderCount });
    return files;
  }

  /** Opens the picker of `input`. Shows that the browser collects files after the picker has closed. */
  open(input: HTMLInputElement): void {
    const end = new AbortController();
    const { signal } = end;
    const show = (readingCount?: number): void => this.#set({ ...this.intake, readingCount });
    const stop = (): void => {
      end.abort();
      show();
    };
    for (const type of ['change', 'cancel']) input.addEventListener(type, stop, { signal });
    input.ownerDocument.defaultView?.addEventListener('focus', () => show(0), { signal });
    input.click();
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
    const isFree = !event.defaultPrevented || event === stray;
    const isMine =
      holdsFiles(dataTransfer) &&
      !this.#isOwnDrag &&
      !this.#isClosed() &&
      (isOver || (this.#host.layout === 'overlay' && isFree && !takesFiles(event)));
    if (isMine) {
      event.preventDefault();
      dataTransfer.dropEffect = 'copy';
      this.#accepted = event;
      stray = undefined;
      this.#setDragging(type !== 'drop');
      if (type === 'drop') void this.read((onFound) => readDrop(dataTransfer, onFound)).then(this.#onFiles);
    } else if (!isOver) {
      this.#setDragging(false);
      if (!isFree || !holdsFiles(dataTransfer) || this.#isOwnDrag) return;
      if (takesFiles(event) || (type !== 'drop' && isEditable(event))) return;
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
    const data = event.clipboardData;
    if (event.defaultPrevented || this.#isClosed() || !holdsFiles(data) || data.files.length === 0) return;
    if (isEditable(event) || holdsText(data) || !this.#isFor(event)) return;
    event.preventDefault();
    void this.read((onFound) => readDrop(data, onFound)).then((files) => this.#onFiles(files.map(named)));
  };

  /** True if the element has the focus, or if it can get the focus and nothing else could want the files. */
  #isFor(event: Event): boolean {
    const { ownerDocument: page, renderRoot } = this.#host;
    const { activeElement } = this.#host.getRootNode() as ShadowRoot;
    const focused = (activeElement ?? page.activeElement ?? page.body) as HTMLElement;
    if (focused === this.#host || event.composedPath().includes(this.#host)) return true;
    if (!focused.matches('body, a, button, summary, [tabindex="-1"]:not([role])')) return false;
    // An element that is hidden, inert or behind a modal dialog gets no focus.
    const base = renderRoot?.querySelector<HTMLElement>('.base') ?? this.#host;
    base.focus({ preventScroll: true });
    const isReachable = this.#host.matches(':focus-within');
    base.blur();
    focused.focus({ preventScroll: true });
    return isReachable;
  }

  #set(intake: Intake): void {
    this.intake = intake;
    this.#host.requestUpdate();
  }
}

const pastedNames = new Set<string>();

/** Gives a picture from the clipboard its own name. Browsers name each of them `image.png`. */
function named(found: FoundFile): FoundFile {
  if (found.file?.name !== 'image.png') return found;
  let name = `image ${new Date().toLocaleString('sv').replaceAll(':', '.')}.png`;
  while (pastedNames.has(name)) name = nextName(name);
  pastedNames.add(name);
  return { file: new File([found.file], name, { type: 'image/png' }), relativePath: name };
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

const targetOf = (event: Event): HTMLInputElement => event.composedPath()[0] as HTMLInputElement;

/** True over a file input, and over an element with a closed shadow root, which may contain one. */
function takesFiles(event: Event): boolean {
  const { localName, type, shadowRoot } = targetOf(event);
  return localName === 'input' ? type === 'file' : Boolean(localName?.includes('-') && !shadowRoot);
}

function isEditable(event: Event): boolean {
  const { isContentEditable, localName } = targetOf(event);
  return isContentEditable || /^(input|textarea)$/.test(localName);
}

const holdsFiles = (data: DataTransfer | null): data is DataTransfer =>
  data?.types.includes('Files') ?? false;

/** True if text was copied together with the files, for example cells with a picture of them. Names of files don't count. */
const holdsText = (data: DataTransfer): boolean =>
  data
    .getData('text/plain')
    .split('\n')
    .some((line) => line.trim() && ![...data.files].some(({ name }) => line.trim().endsWith(name)));

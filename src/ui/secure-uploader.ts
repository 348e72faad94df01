// The element: connects its attributes, events and shadow root with the engine, the controllers and the views.

import type { PropertyValues, TemplateResult } from 'lit';
import type { Change, TokenInput } from '../core/changes.ts';
import { listOf } from '../core/list-of.ts';
import type { LoginMessages, Messages } from '../core/messages.ts';
import { hasActive } from '../core/phases.ts';
import type { FileId, PickedFile, Snapshot, UnreadableFile } from '../core/types.ts';
import type { Diagnosis } from '../engine/trace.ts';
import type { UploaderOptions } from '../engine/uploader-options.ts';
import { ENGLISH } from '../locales/en.ts';
import { createFrameCommands } from './button-commands.ts';
import { DropController } from './drop-controller.ts';
import type { ListenerMethod } from './event-map.ts';
import { FormControl } from './form-control.ts';
import { createFormat, type Format } from './format.ts';
import { showState } from './host-states.ts';
import { textsOf } from './languages.ts';
import { pickHandles } from './pick-file.ts';
import { cameraOf, property, wordOf } from './property.ts';
import { readHandles, readInput } from './read-drop.ts';
import { warnOfAttributes } from './read-settings.ts';
import { adopt } from './styles/css.ts';
import { frameStyles } from './styles/frame-styles.ts';
import { TokenSource, takeEarlyToken } from './token-source.ts';
import { UploadsController } from './uploads-controller.ts';
import { frame } from './views/frame.ts';
import type { Idp } from './views/login-step.ts';

export interface SecureUploader {
  addEventListener: ListenerMethod;
  removeEventListener: ListenerMethod;
}

/**
 * Uploads files to a service: lets users choose files, signs in, hashes, uploads in resumable chunks, and shows the progress.
 *
 * @example
 * ```html
 * <secure-uploader base-url="https://files.example.com" parent-id="folder-a" accept="image/*,.pdf" multiple></secure-uploader>
 * ```
 * @example
 * ```ts
 * import 'secure-uploader/define';
 *
 * const element = document.createElement('secure-uploader');
 * element.baseUrl = 'https://files.example.com';
 * element.parentId = 'folder-a';
 * element.getToken = async () => (await fetch('/api/upload-token', { method: 'POST' })).json();
 * element.addEventListener('upload-completed', ({ detail }) => console.log(detail.name));
 * document.body.append(element);
 * ```
 *
 * @summary Signs in, hashes, and uploads files in resumable chunks.
 * @tag secure-uploader
 * @tagname secure-uploader
 *
 * @slot empty - Replaces the content of the drop zone while the list is empty.
 * @slot icon - Replaces the icon of the drop zone.
 * @slot invitation - Replaces the title of the drop zone, such as "Drop files here".
 * @slot hint - Replaces the line below the drop zone's title, which shows the limits by default.
 * @slot buttons - Replaces the buttons of the drop zone. The new ones call `browse()`.
 * @slot row-{id} - Additional content of the row of a file; `{id}` is its id in events.
 * @slot footer - Replaces the footer.
 * @slot login - The sign-in form of `auth="local"`. Filled by the element itself.
 *
 * @csspart base - The outer container.
 * @csspart drop-zone - The drop zone; also `dragging` while files are dragged over it.
 * @csspart overlay - With `layout="overlay"`, what covers the page while files are dragged over it.
 * @csspart notice - What was skipped in the last drop.
 * @csspart rejections - The panel with rejected files.
 * @csspart rejection-reason - Why files were rejected.
 * @csspart rejection - The name of a rejected file.
 * @csspart sign-in - The sign-in panel; also its state, such as `prompt` or `popup`, or `login` while it shows the form.
 * @csspart sign-in-text - The text of the sign-in panel.
 * @csspart list-scroller - The scrolling container of the list.
 * @csspart list - The list of files and folders.
 * @csspart file - A row of the list; also its phase, such as `uploading` or `failed`, or `folder`.
 * @csspart file-icon - The icon of a row.
 * @csspart file-name - The name of a file or folder.
 * @csspart file-status - Phase, size, speed and time left of a file; number of files and size of a folder.
 * @csspart progress - A progress bar; the overall one is also `total-progress`.
 * @csspart total-progress - The overall progress bar.
 * @csspart error - An error message.
 * @csspart warning - A message about a problem that does not stop the upload.
 * @csspart totals - The footer; also its state: `ready`, `waiting`, `uploading`, `finishing`, `retrying`, `paused`, `failed`,
 *   `done` or `ended`.
 * @csspart totals-icon - The icon of the footer, when all files are done or failed.
 * @csspart menu - The menu with further actions: of the footer, and in narrow places of rows and drop zone.
 * @csspart cause - A panel above the list: what several files failed for or are warned of. Also `error` or `warning`.
 * @csspart cause-icon - The icon of such a panel.
 * @csspart headline - The state of all files in words, such as "All 10 files uploaded".
 * @csspart totals-status - Number of files, size, speed and time left of all files.
 * @csspart undo - The footer while canceling or removing files can be undone, for 8 seconds.
 * @csspart button - A button with text; also its name, such as `browse-button` or `pause-all-button`.
 * @csspart icon-button - A button with an icon.
 *
 * @cssproperty [--secure-uploader-accent=#1b55c9] - Color of progress, focus and the main button.
 * @cssproperty [--secure-uploader-on-accent=#fff] - Text color on the accent.
 * @cssproperty [--secure-uploader-surface=#fff] - Background color.
 * @cssproperty [--secure-uploader-text=#14171c] - Text color.
 * @cssproperty [--secure-uploader-muted=#596170] - Color of secondary text.
 * @cssproperty [--secure-uploader-line=#e2e5ea] - Color of lines.
 * @cssproperty [--secure-uploader-danger=#b3261e] - Color of errors.
 * @cssproperty [--secure-uploader-warning=#8a5300] - Color of warnings, and of files that have to be chosen again.
 * @cssproperty [--secure-uploader-success=#15734a] - Color of completed files.
 * @cssproperty [--secure-uploader-radius=12px] - Corner radius of the container; inner radii follow.
 * @cssproperty [--secure-uploader-button-radius] - Corner radius of buttons; 0.6 of the container's by default.
 * @cssproperty [--secure-uploader-row-padding=0.8em] - Space above and below a row; 0.55em in narrow places. Without effect in
 *   `density="compact"`.
 * @cssproperty [--secure-uploader-bar-height=4px] - Height of progress bars.
 * @cssproperty [--secure-uploader-font=inherit] - Font family.
 * @cssproperty [--secure-uploader-font-weight=500] - Weight of names and buttons, as a number; titles have 100 more.
 * @cssproperty [--secure-uploader-font-size=0.9375em] - Font size; all dimensions follow.
 * @cssproperty [--secure-uploader-list-height=30em] - Maximum height of the list; with `none` the page scrolls instead.
 *
 * @cssstate uploading - At least one file is being hashed, uploaded or committed.
 * @cssstate dragging - Files are dragged over the element.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only narrows methods that the class inherits.
export class SecureUploader extends FormControl {
  /**
   * Opens the camera of phones and tablets instead of the file picker, as in `<input capture>`: `environment` for the camera on the
   * back, or `user` for the one on the front. `accept` decides if it takes photos (`image/*`) or videos (`video/*`).
   */
  @property({ converter: cameraOf }) capture?: 'environment' | 'user' | undefined;
  /** Shows a button to choose a folder. */
  @property({ type: Boolean }) directory = false;
  /** Also adds files of the operating system that are in chosen folders, such as `.DS_Store` and `Thumbs.db`. */
  @property({ type: Boolean }) includeHidden = false;
  /** Height of the rows: `comfortable`, or `compact` with rows of 40 px, in narrow places of 54 px. */
  @property({ reflect: true }) density: 'comfortable' | 'compact' | undefined;
  /**
   * Look of the drop zone: `area` is large while the list is empty, `bar` is always one line, and `button` has only the button.
   * `overlay` looks like `bar`, and accepts files that are dropped anywhere on the page.
   */
  @property({ reflect: true, converter: wordOf }) layout: 'area' | 'bar' | 'overlay' | 'button' | undefined;
  /**
   * Doesn't warn users who leave the page while files are uploading. With `keeper-url`, there is no warning, because the next page
   * continues the uploads.
   */
  @property({ type: Boolean }) noLeaveWarning = false;
  /** Keeps the screen on while files are uploading and the page is visible. */
  @property({ type: Boolean }) wakeLock = false;
  /** Asks the browser not to delete saved progress when the disk is almost full. Firefox asks the user. */
  @property({ type: Boolean }) persistStorage = false;
  /** Also dispatches `chunk-hashed` and `chunk-uploaded`. */
  @property({ type: Boolean }) chunkEvents = false;
  /** Shows thumbnails of images and videos in the list. */
  @property({ type: Boolean }) thumbnails = false;
  /** Identity providers in the form of `auth="local"`. A `federated` provider uses the sign-in window. */
  @property({ attribute: false }) idps: readonly Idp[] = [];
  /** Timeouts, retry policy and `commitDeadlineMs` of the engine. Read only once, when the engine is created. */
  @property({ attribute: false }) engineOptions?: UploaderOptions | undefined;
  /** Texts that replace the default texts, including the texts of the sign-in form. */
  @property({ attribute: false }) messages: Partial<Messages & LoginMessages> = {};

  /** @internal The texts of the element's language, overridden by `messages`. */
  texts: Messages = ENGLISH;

  readonly #tokens = new TokenSource();
  readonly #drop = new DropController(
    this,
    (files) => this.#commands.addFiles(files),
    () => this.#uploads.preconnect(),
    (): boolean => this.isDisabled || this.#uploads.isClosed,
  );
  readonly #uploads = new UploadsController(this, {
    tokens: this.#tokens,
    open: ({ Uploads }, input) => new Uploads(this, input, this.currentUser, this.#watchers, this.#commands),
    onOpen: () => {
      if (this.isConnected) this.#adopt();
      this.requestUpdate();
    },
  });
  readonly #watchers = [{ onChange: (change: Change) => this.onFormChange(change) }];
  readonly #commands = createFrameCommands(this, {
    dropRestored: () => this.dropRestored(),
    addInput: async (files) => this.addFiles(await this.#drop.read((onFound) => readInput(files, onFound))),
    tryAgain: () => {
      // The button leaves with its panel.
      this.renderRoot.querySelector<HTMLElement>('.base')?.focus();
      this.#uploads.tryAgain();
    },
  });
  readonly #texts = textsOf(this, ENGLISH);

  constructor() {
    super();
    new MutationObserver(() => this.requestUpdate()).observe(this, { childList: true });
    const early = takeEarlyToken(this);
    if (early !== undefined) this.token = early;
    this.currentUser.onChange(({ type }) => {
      this.#drop.leave();
      // A token has its own owner: the page may set both at once.
      if (type === 'signed-out') this.#tokens.clear();
    });
  }

  /** State of all files and of sign-in. Frozen; replaced by a new object after each change. */
  get snapshot(): Snapshot {
    return this.#uploads.snapshot;
  }

  /** @internal Formats numbers for the locale of the texts. */
  get format(): Format {
    return createFormat(this.texts.locale);
  }

  /** Token for the service. Write-only. Set a new token when `auth-required` is dispatched. */
  set token(token: TokenInput) {
    // A sign-out that this element has missed must not delete the new token.
    this.currentUser.look();
    this.#tokens.set(token);
    this.getToken = undefined;
  }

  /**
   * Adds one or more files, optionally with a relative path. Rejects with `bad-config` if the settings are invalid, or if any of
   * them is no file. Files wait until the engine is loaded; rejects with `network` if the page has to be reloaded for it.
   */
  async addFiles(
    files: Iterable<PickedFile | UnreadableFile | File> | PickedFile | UnreadableFile | File,
  ): Promise<void> {
    this.currentUser.look();
    const list = listOf(files);
    if (this.#uploads.uploads) return this.#uploads.useForFiles((uploads) => uploads.addFiles(list));
    const reading = this.#drop.showReading(list.length);
    await this.#uploads
      .useForFiles((uploads) => (reading.isDiscarded() ? undefined : uploads.addFiles(list)))
      .finally(reading.end);
  }

  /** Opens the file picker. Call this method in a click or key handler. */
  async browse(kind: 'files' | 'folder' = 'files'): Promise<void> {
    if (!this.hasUpdated) await this.updateComplete;
    if (this.isDisabled || this.#uploads.failure === 'reload') return;
    this.#uploads.preconnect();
    const handles = kind === 'files' && (await pickHandles(this, this.ownerDocument.defaultView));
    if (handles) await this.addFiles(await this.#drop.read((onFound) => readHandles(handles, onFound)));
    else this.#drop.open(this.renderRoot.querySelector(`#${kind}`) as HTMLInputElement);
  }

  /** Starts all uploads that wait because of `manual`. */
  async start(): Promise<void> {
    await this.#uploads.use(({ uploader }) => uploader.start());
  }

  /** Pauses one upload; without an id, all uploads. */
  async pause(id?: FileId): Promise<void> {
    await this.#uploads.use((uploads) => uploads.pause(id));
  }

  /**
   * Resumes one upload; without an id, all uploads. If the upload needs its file again, opens a permission prompt or the file
   * picker. Call this method in a click handler.
   */
  async resume(id?: FileId): Promise<void> {
    await this.#uploads.use((uploads) => uploads.resume(id));
  }

  /** Moves a file before `beforeId`, or to the end of the list. */
  async move(id: FileId, beforeId?: FileId): Promise<void> {
    await this.#uploads.use(({ uploader }) => uploader.move(id, beforeId));
  }

  /** Moves a file to the front, so that its chunks are sent next. */
  async prioritize(id: FileId): Promise<void> {
    await this.#uploads.use(({ uploader }) => uploader.prioritize(id));
  }

  /** Cancels one upload; without an id, all uploads. Deletes their saved progress at once; only buttons offer to undo this. */
  async cancel(id?: FileId): Promise<void> {
    await this.#uploads.use(({ uploader }) => uploader.cancel(id));
  }

  /** Retries one failed upload; without an id, all failed uploads. `name` renames the file on the service. */
  async retry(id?: FileId, name?: string): Promise<void> {
    await this.#uploads.use((uploads) => uploads.retry(id, name));
  }

  /**
   * Removes a file from the list, and cancels its upload if it is not done. Without an id, removes the element from
   * the page, like `Element.remove()`.
   */
  override remove(): void;
  override remove(id: FileId): Promise<void>;
  override remove(id?: FileId): Promise<void> | void {
    return id === undefined ? super.remove() : this.#uploads.use(({ uploader }) => uploader.remove(id));
  }

  /** Removes all completed and canceled files from the list. Failed files stay, so that they can be retried. */
  async clear(): Promise<void> {
    await this.#uploads.use(({ uploader }) => uploader.clear());
  }

  /** Starts sign-in. `via` overrides `auth`. Call this method in a click handler, or the browser blocks the sign-in window. */
  async signIn(via?: 'popup' | 'redirect'): Promise<void> {
    await this.#uploads.use((uploads) => uploads.signIn(via));
  }

  /** Resolves with plain data for a support ticket, without names of files, presigned URLs or secrets. */
  async diagnose(): Promise<Diagnosis> {
    return this.#uploads.use(({ uploader }) => uploader.diagnose());
  }

  /** Deletes all saved uploads, then signs out. Rejects with `store-unavailable` if some data could not be deleted. */
  async signOut(): Promise<void> {
    await this.#uploads.signOut();
  }

  protected override get shown(): Snapshot {
    return this.#uploads.uploads?.shown ?? this.snapshot;
  }

  protected override get minFileCount(): number {
    return this.#uploads.fileRules.minFiles;
  }

  protected override isReading = (): boolean => this.#drop.isReading;

  protected override openPicker(): void {
    this.#commands.browse();
  }

  protected override removeAll(): void {
    if (this.#uploads.uploads) this.#uploads.uploads.removeAll();
    else this.#drop.leave();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#adopt();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.size > 0 || !this.hasUpdated) {
      warnOfAttributes(this);
      this.#uploads.configure(changed.has('getToken'));
    }
    this.currentUser.owner = `${this.owner ?? ''}`;
    if (changed.has('messages')) this.texts = this.#texts();
  }

  protected override render(): TemplateResult {
    const { capture, directory, layout } = this;
    const { uploads, isMisconfigured, failure, fileRules } = this.#uploads;
    const state = {
      snapshot: this.snapshot,
      isMisconfigured,
      failure,
      slots: new Set(Array.from(this.children, ({ slot }) => slot)),
      messages: this.texts,
      format: this.format,
      label: this.labelText,
      rules: { ...fileRules, capture, directory, disabled: this.isDisabled, layout },
      intake: this.#drop.intake,
      restoredCount: this.restoredCount,
    };
    return uploads?.render(state) ?? frame({ ...state, spoken: {} }, this.#commands);
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    showState(this.internals, 'uploading', hasActive(this.snapshot.files));
    showState(this.internals, 'dragging', this.#drop.intake.dragging);
    // Opens only while files are dragged over the page of an overlay.
    this.renderRoot.querySelector<HTMLElement>('.overlay')?.togglePopover(true);
  }

  #adopt(): void {
    adopt(this.renderRoot as ShadowRoot, this.#uploads.uploads?.styles ?? frameStyles);
  }
}

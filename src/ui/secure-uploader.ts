// The element: attributes in, events out, and one shadow root. It joins the controllers and the views; what happens to
// files is the engine's.

import { LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import type { TokenInput } from '../core/changes.ts';
import type { GetToken, Profile } from '../core/config.ts';
import { isActive } from '../core/phases.ts';
import type { AuthMode, FileId, HashAlgorithm, PickedFile, Snapshot } from '../core/types.ts';
import type { AuthOptions, UploaderOptions } from '../engine/uploader.ts';
import { Announcer } from './announcer.ts';
import { createCommands } from './commands.ts';
import { DropController } from './drop-controller.ts';
import { EngineController } from './engine-controller.ts';
import type { SecureUploaderEventMap } from './event-map.ts';
import { FocusController } from './focus-controller.ts';
import { createFormat, type Format } from './format.ts';
import { showState } from './host-states.ts';
import { LoginController } from './login-controller.ts';
import type { LoginMessages } from './login-messages.ts';
import { ENGLISH, type Messages } from './messages.ts';
import { pickHandles } from './pick-file.ts';
import { warnOfAttributes } from './read-settings.ts';
import { resume } from './resume.ts';
import { styles } from './styles/styles.ts';
import { TokenSource, takeEarlyToken } from './token-source.ts';
import type { Idp } from './views/login.ts';
import type { WidgetState } from './views/state.ts';
import { widget } from './views/widget.ts';
import { WindowController } from './window-controller.ts';

/**
 * Uploads files to a service: picks them, signs in, hashes, sends in resumable chunks, and shows how far it is.
 *
 * @summary Signs in, hashes, and uploads files in resumable chunks.
 * @tag secure-uploader
 * @tagname secure-uploader
 *
 * @slot hint - What may be picked, below the invitation. By default the rules in a line.
 * @slot login - The sign-in form of `auth="local"`. The element puts it there itself.
 *
 * @fires {CustomEvent} file-add - Cancelable: a file is about to be added. Preventing it refuses the file.
 * @fires {CustomEvent} file-added - A file has a row now.
 * @fires {CustomEvent} file-rejected - A file was refused; `code` says why.
 * @fires {CustomEvent} rejections-dismissed - Refusals were taken off the screen.
 * @fires {CustomEvent} file-removed - A row is gone.
 * @fires {CustomEvent} file-moved - A file stands elsewhere in the list: before another one, or at the end.
 * @fires {CustomEvent} file-renamed - The folder has a file of its name; it goes by another one.
 * @fires {CustomEvent} upload-started - Work on a file has begun; it may wait for sign-in.
 * @fires {CustomEvent} upload-progress - At most ten times a second for each file.
 * @fires {CustomEvent} upload-paused - A file rests; `reason` says why.
 * @fires {CustomEvent} upload-resumed - A file goes on.
 * @fires {CustomEvent} upload-completed - All chunks are stored and committed; hashes and receipts are in the detail.
 * @fires {CustomEvent} upload-failed - A file has failed; `code` says why, `retryable` whether a retry may help.
 * @fires {CustomEvent} upload-canceled - A file was given up and forgotten.
 * @fires {CustomEvent} uploads-finished - Nothing is left that will go on by itself.
 * @fires {CustomEvent} chunk-hashed - With `chunk-events` only.
 * @fires {CustomEvent} chunk-uploaded - With `chunk-events` only.
 * @fires {CustomEvent} auth-redirect - Cancelable: sign-in is about to leave the page. Preventing it stays.
 * @fires {CustomEvent} auth-required - A token is needed; `respondWith(promise)` supplies one.
 * @fires {CustomEvent} auth-challenged - Sign-in asks for one more proof.
 * @fires {CustomEvent} auth-changed - Sign-in went from one state to another.
 * @fires {CustomEvent} auth-failed - Sign-in failed; `code` says why.
 * @fires {CustomEvent} signed-in - There is a token.
 * @fires {CustomEvent} signed-out - The token is forgotten.
 *
 * @csspart base - The frame around everything.
 * @csspart drop-zone - Where files are dropped; also `dragging` while files are over it.
 * @csspart notice - What the last drop left out.
 * @csspart rejections - The panel of refused files; each is a `rejection`.
 * @csspart rejection - One refused file.
 * @csspart sign-in - The sign-in panel; also the name of the state, such as `prompt` or `popup`, or `login` where the form is in it.
 * @csspart sign-in-text - Its explanation.
 * @csspart list-scroller - The scrolling frame of the list.
 * @csspart list - The list of files.
 * @csspart file - A row; also the name of its phase, such as `uploading` or `failed`.
 * @csspart file-icon - The icon of a row.
 * @csspart file-name - The name of a file.
 * @csspart file-percent - How far a file is, in percent.
 * @csspart file-status - Phase, size, speed and time left of a file.
 * @csspart progress - A progress bar; the one of all files is also `total-progress`.
 * @csspart total-progress - The progress bar of all files.
 * @csspart error - A sentence about an error.
 * @csspart warning - A sentence about something that does not stop the upload.
 * @csspart totals - The foot with the sums.
 * @csspart button - A button with words; also its own name, such as `browse-button` or `pause-all-button`.
 * @csspart icon-button - A button with an icon.
 *
 * @cssproperty [--secure-uploader-accent=#1b55c9] - Colour of progress, focus and the main button.
 * @cssproperty [--secure-uploader-on-accent=#fff] - Colour of text on the accent.
 * @cssproperty [--secure-uploader-surface=#fff] - Background.
 * @cssproperty [--secure-uploader-text=#14171c] - Colour of text.
 * @cssproperty [--secure-uploader-muted=#596170] - Colour of secondary text.
 * @cssproperty [--secure-uploader-line=#e2e5ea] - Colour of hairlines.
 * @cssproperty [--secure-uploader-danger=#b3261e] - Colour of errors.
 * @cssproperty [--secure-uploader-success=#15734a] - Colour of what is done.
 * @cssproperty [--secure-uploader-radius=12px] - Roundness of the frame; that of inner things follows.
 * @cssproperty [--secure-uploader-font=inherit] - Font family.
 * @cssproperty [--secure-uploader-font-size=0.9375em] - Font size; all measures follow.
 * @cssproperty [--secure-uploader-list-height=30em] - Greatest height of the list; `none` lets the page scroll.
 *
 * @cssstate uploading - At least one file is being checked, sent or finished.
 * @cssstate dragging - Files are held over the element.
 */
export class SecureUploader extends LitElement {
  static override styles = styles;

  /** Address of the service. Must be set; a change counts for files added afterwards. */
  @property({ attribute: 'base-url' }) baseUrl?: string | undefined;
  /** Folder that files are put in. Must be set; a change counts for files added afterwards. */
  @property({ attribute: 'parent-id' }) parentId?: string | undefined;
  /** How to sign in: `auto`, `token`, `popup`, `redirect`, `local` or `none`. */
  @property() auth?: AuthMode | undefined;
  /** Name of this application at the service. */
  @property({ attribute: 'client-id' }) clientId?: string | undefined;
  /** Address of the callback page; by default `secure-uploader-callback.html` beside the page. */
  @property({ attribute: 'redirect-uri' }) redirectUri?: string | undefined;
  /** How the code comes back: `query` or `fragment`. */
  @property({ attribute: 'response-mode' }) responseMode?: 'query' | 'fragment' | undefined;
  /** Whether signing in is tried without asking first: `auto` or `off`. */
  @property() silent?: 'auto' | 'off' | undefined;
  /** Issuer that answers of sign-in must name. */
  @property() issuer?: string | undefined;
  /** Identity provider to sign in with. */
  @property({ attribute: 'idp-id' }) idpId?: string | undefined;
  /** Scope to ask for. */
  @property() scope?: string | undefined;
  /** Header that carries the token. */
  @property({ attribute: 'auth-header' }) authHeader?: string | undefined;
  /** Word before the token in its header. */
  @property({ attribute: 'auth-scheme' }) authScheme?: string | undefined;
  /** Shows the form of `auth="local"` though the page is inside a page of another origin. */
  @property({ attribute: 'allow-framed-login', type: Boolean }) allowFramedLogin = false;
  /** Origins that files may be sent to, separated by spaces; without it any https origin. */
  @property({ attribute: 'upload-origins' }) uploadOrigins?: string | readonly string[] | undefined;
  /** Whose browser this is, so that people who share one do not resume each other's uploads. */
  @property() owner?: string | undefined;
  /** Types that may be picked, as in `<input accept>`. */
  @property() accept?: string | undefined;
  /** More than one file may be picked. */
  @property({ type: Boolean }) multiple = false;
  /** Offers a button for folders. */
  @property({ type: Boolean }) directory = false;
  /** Greatest number of files. */
  @property({ attribute: 'max-files' }) maxFiles?: number | string | undefined;
  /** Greatest size of a file, such as `500MB`. */
  @property({ attribute: 'max-file-size' }) maxFileSize?: number | string | undefined;
  /** Size of a chunk, such as `8MiB`; by default it follows from the size of the file. */
  @property({ attribute: 'chunk-size' }) chunkSize?: number | string | undefined;
  /** Chunks sent at the same time, or `auto`. */
  @property() concurrency?: number | string | undefined;
  /** Greatest number of chunks in one request for tickets. */
  @property({ attribute: 'batch-size' }) batchSize?: number | string | undefined;
  /** What all uploads together may use a second on average, such as `2MB`: a chunk goes at the line's speed, the next one waits. */
  @property() throttle?: number | string | undefined;
  /** Hash that names chunks: `sha-256` or `blake3`. */
  @property() hash?: HashAlgorithm | undefined;
  /** Waits for `start()`. */
  @property({ type: Boolean }) manual = false;
  /** Keeps nothing that would let an upload be resumed after a reload. */
  @property({ type: Boolean, attribute: 'no-resume' }) noResume = false;
  /** Keeps small files (4 MiB each, 64 MiB in all) in the browser until they are done: after a reload they go on by themselves. */
  @property({ type: Boolean, attribute: 'keep-files' }) keepFiles = false;
  /** Days after which an upload that is not done is forgotten. */
  @property({ attribute: 'keep-days' }) keepDays?: number | string | undefined;
  /** Where the folder has a file of that name: `fail` offers another name, `rename` takes it, such as `report (2).pdf`. */
  @property({ attribute: 'on-conflict' }) onConflict?: 'fail' | 'rename' | undefined;
  /** Nothing can be added. What is under way goes on. */
  @property({ type: Boolean, reflect: true }) disabled = false;
  /** Address of the hash worker, for pages whose policy asks for it. */
  @property({ attribute: 'worker-url' }) workerUrl?: string | undefined;
  /** Also dispatches `chunk-hashed` and `chunk-uploaded`. */
  @property({ type: Boolean, attribute: 'chunk-events' }) chunkEvents = false;
  /** Path that completes an upload; without it done means that every chunk is stored. */
  @property({ attribute: 'commit-path' }) commitPath?: string | undefined;
  /** Path that drops an upload; without it the service is not told. */
  @property({ attribute: 'cancel-path' }) cancelPath?: string | undefined;
  /** Path of the sign-in page. */
  @property({ attribute: 'authorize-path' }) authorizePath?: string | undefined;
  /** Path that gives a token for a code. */
  @property({ attribute: 'token-path' }) tokenPath?: string | undefined;
  /** Path that credentials are sent to, with `auth="local"`. */
  @property({ attribute: 'login-path' }) loginPath?: string | undefined;
  /** Path that further proofs are sent to, with `auth="local"`. */
  @property({ attribute: 'challenge-path' }) challengePath?: string | undefined;
  /** Path that ends the service's own session; without it signing out makes no call. */
  @property({ attribute: 'logout-path' }) logoutPath?: string | undefined;
  /** Path that opens an upload session. */
  @property({ attribute: 'session-path' }) sessionPath?: string | undefined;
  /** Path that gives tickets for chunks. */
  @property({ attribute: 'chunks-path' }) chunksPath?: string | undefined;
  /** Supplies a token when one is needed. Another function starts another session; after a sign-out, setting one lets it be called again. */
  @property({ attribute: false, hasChanged: () => true }) getToken?: GetToken | undefined;
  /** Answers the folder of a file from its relative path. */
  @property({ attribute: false }) parentFor?: ((relativePath: string) => string) | undefined;
  /** How the service fills what its interface leaves open. */
  @property({ attribute: false }) profile?: Profile | undefined;
  /** Rare settings of sign-in. */
  @property({ attribute: false }) authOptions?: AuthOptions | undefined;
  /** Identity providers that the form of `auth="local"` offers; `federated` ones sign in in a window. */
  @property({ attribute: false }) idps: readonly Idp[] = [];
  /** Deadlines and retries of the engine other than the usual ones; read when the first settings are. */
  @property({ attribute: false }) engineOptions?: UploaderOptions | undefined;
  /** Texts that replace the English ones, those of the sign-in form too. */
  @property({ attribute: false }) messages: Partial<Messages & LoginMessages> = {};

  /** @internal The texts in use: the English ones with those of `messages` in their place. */
  texts: Messages = ENGLISH;

  readonly #announcer = new Announcer(this);
  readonly #tokens = new TokenSource();
  readonly #drop = new DropController(this, (files) => this.#commands.addFiles(files));
  readonly #engine = new EngineController(this, [this.#tokens, this.#announcer, this.#drop]);
  readonly #login = new LoginController(this, () => this.#engine.settings);
  readonly #commands = createCommands(this, this.#engine);
  readonly #rows = new WindowController(this);
  readonly #internals = this.attachInternals();

  constructor() {
    super();
    new FocusController(this);
    const early = takeEarlyToken(this);
    if (early !== undefined) this.token = early;
  }

  /** All that is known of files and sign-in, frozen; a new object for each change. */
  get snapshot(): Snapshot {
    return this.#engine.snapshot;
  }

  /** @internal Formats for the locale of the texts. */
  get format(): Format {
    return createFormat(this.texts.locale);
  }

  /** A token for the service, for pages that have one. Write-only; set it again when `auth-required` asks. */
  set token(token: TokenInput) {
    this.#tokens.set(token);
    this.getToken = this.#tokens.getToken;
  }

  /** Adds files, or a single one, each with the path it should have, or just its name. Rejects with `bad-config` where settings are wrong. */
  async addFiles(files: Iterable<PickedFile | File> | PickedFile | File): Promise<void> {
    await this.#engine.uploader.addFiles(files);
  }

  /** Opens the browser's picker. Works only in a click or a key press. */
  async browse(kind: 'files' | 'folder' = 'files'): Promise<void> {
    if (!this.hasUpdated) await this.updateComplete;
    if (this.disabled) return;
    const picked = kind === 'files' && !this.noResume ? await pickHandles(this) : undefined;
    if (picked) await this.addFiles(picked);
    else this.renderRoot.querySelector<HTMLInputElement>(`#${kind}`)?.click();
  }

  /** Starts what waits, with `manual`. */
  async start(): Promise<void> {
    await this.#engine.uploader.start();
  }

  /** Pauses one file or all. */
  async pause(id?: FileId): Promise<void> {
    await this.#engine.uploader.pause(id);
  }

  /** Goes on with one file or all. For a file of an earlier visit, in a click: the browser, or the person, is asked for it. */
  async resume(id?: FileId): Promise<void> {
    await resume(this.#engine.uploader, id);
  }

  /** Puts one file before another one of the list, or at the end. */
  async move(id: FileId, beforeId?: FileId): Promise<void> {
    await this.#engine.uploader.move(id, beforeId);
  }

  /** Puts one file before all others: its chunk is sent next. */
  async prioritize(id: FileId): Promise<void> {
    await this.#engine.uploader.prioritize(id);
  }

  /** Gives up one file or all, and forgets what was saved of them. */
  async cancel(id?: FileId): Promise<void> {
    await this.#engine.uploader.cancel(id);
  }

  /** Tries one failed file again, or all; one of them under another name, where one is told. */
  async retry(id?: FileId, name?: string): Promise<void> {
    await this.#engine.uploader.retry(id, name);
  }

  /** Takes a file off the list; one that is under way is canceled. Without an id, the element off the page, as any other. */
  override remove(): void;
  override remove(id: FileId): Promise<void>;
  override remove(id?: FileId): Promise<void> | void {
    // Rejects as the others do, rather than throw, where the settings are wrong.
    return id === undefined ? super.remove() : (async () => this.#engine.uploader.remove(id))();
  }

  /** Takes all files off the list that nothing happens to any more. */
  async clear(): Promise<void> {
    await this.#engine.uploader.clear();
  }

  /** Signs in, by `popup` or `redirect` where told. Call it in a click or a key press, else the browser blocks the window. */
  async signIn(via?: 'popup' | 'redirect'): Promise<void> {
    if (!via) this.#login.ask();
    await this.#engine.uploader.signIn(via);
  }

  /** Signs out, and deletes what was saved of uploads first; rejects with `store-unavailable` where something could not be deleted. */
  async signOut(): Promise<void> {
    this.#tokens.clear();
    await this.#engine.signOut();
  }

  override addEventListener<K extends keyof SecureUploaderEventMap>(
    type: K,
    listener: (this: SecureUploader, event: SecureUploaderEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  override addEventListener(
    ...args: [string, EventListenerOrEventListenerObject, (boolean | AddEventListenerOptions)?]
  ): void {
    super.addEventListener(...args);
  }

  override removeEventListener<K extends keyof SecureUploaderEventMap>(
    type: K,
    listener: (this: SecureUploader, event: SecureUploaderEventMap[K]) => unknown,
    options?: boolean | EventListenerOptions,
  ): void;
  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
  override removeEventListener(
    ...args: [string, EventListenerOrEventListenerObject, (boolean | EventListenerOptions)?]
  ): void {
    super.removeEventListener(...args);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    warnOfAttributes(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#announcer.stop();
  }

  protected override willUpdate(changed: PropertyValues): void {
    this.#tokens.assign(this.owner);
    if (changed.size > 0 || !this.hasUpdated) this.#engine.configure(changed.has('getToken'));
    if (changed.get('owner')) {
      this.#announcer.clear();
      this.#drop.leave();
    }
    if (changed.has('messages')) this.texts = { ...ENGLISH, ...this.messages };
  }

  protected override render(): TemplateResult {
    const { snapshot } = this;
    const { isMisconfigured } = this.#engine;
    const state: WidgetState = {
      snapshot,
      isMisconfigured,
      hasLogin: this.#login.isShown,
      signInPauseInS: this.#login.pauseInS,
      messages: this.texts,
      format: this.format,
      rules: { ...this.#engine.fileRules, directory: this.directory, disabled: this.disabled },
      intake: this.#drop.intake,
      spoken: this.#announcer.spoken,
      rows: this.#rows.rangeOf(snapshot.files.map((file) => file.id)),
    };
    return widget(state, this.#commands);
  }

  protected override updated(): void {
    const isUploading = this.snapshot.files.some((file) => isActive(file.phase));
    showState(this.#internals, 'uploading', isUploading);
    showState(this.#internals, 'dragging', this.#drop.intake.dragging);
  }
}

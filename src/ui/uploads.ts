// What the element loads after its first rendering: the engine, and everything that shows uploads.

import type { TemplateResult } from 'lit';
import type { Change } from '../core/changes.ts';
import { isLoopback } from '../core/loopback.ts';
import type { SettingsInput } from '../core/settings-table.ts';
import type { FileId, FileSnapshot, PickedFile, Snapshot, UnreadableFile } from '../core/types.ts';
import type { CurrentUser } from '../core/user.ts';
import type { Uploader } from '../engine/uploader.ts';
import { Announcer, type AnnouncerHost, type Deed } from './announcer.ts';
import { type CommandHost, createCommands } from './button-commands.ts';
import { Countdown } from './countdown.ts';
import { EngineController, type EngineHost } from './engine-controller.ts';
import { FocusController } from './focus-controller.ts';
import { createThumbnails } from './late-thumbnails.ts';
import { LeaveController, type LeaveHost } from './leave-controller.ts';
import { ListKeys } from './list-keys.ts';
import { LoginController, type LoginHost } from './login-controller.ts';
import { pageOf } from './page.ts';
import { resume, resumeFolder } from './resume.ts';
import { createRowOrder, folderOf, type Line } from './row-order.ts';
import { RowVirtualizer } from './row-virtualizer.ts';
import { styles } from './styles/styles.ts';
import { UndoController, type UndoHost } from './undo-controller.ts';
import type { Commands, FrameCommands, FrameState } from './views/state.ts';
import { widget } from './views/widget.ts';

export { deleteUploads } from '../engine/sign-out.ts';

/** What the uploads use of their element. */
export type UploadsHost = AnnouncerHost &
  CommandHost &
  EngineHost &
  LeaveHost &
  LoginHost &
  UndoHost & { readonly thumbnails: boolean };

const isOpen = ({ phase }: FileSnapshot): boolean => phase !== 'done' && phase !== 'canceled';

/** The engine of one element, with its list, sign-in panel, announcements and keys. */
export class Uploads {
  /** The styles of the complete interface. */
  readonly styles = styles;
  readonly uploader: Uploader;
  readonly #host: UploadsHost;
  readonly #announcer: Announcer;
  readonly #login: LoginController;
  readonly #undo: UndoController;
  readonly #countdown: Countdown;
  readonly #rows: RowVirtualizer;
  readonly #order: ReturnType<typeof createRowOrder>;
  readonly #thumbnails: ReturnType<typeof createThumbnails>;
  readonly #keys: ListKeys;
  /** The rows that were rendered last. */
  #lines: readonly Line[] = [];
  readonly #commands: Commands;

  /** Throws `bad-config` if the settings are invalid. Passes each change to `watchers`, then dispatches the change as an event. */
  constructor(
    host: UploadsHost,
    input: SettingsInput,
    user: CurrentUser,
    watchers: readonly { onChange(change: Change): void }[],
    frameCommands: FrameCommands,
  ) {
    const announcer = new Announcer(host);
    const thumbnails = createThumbnails(host, (id) => uploader.fileOf(id));
    const { uploader } = new EngineController(host, input, [announcer, thumbnails, ...watchers]);
    this.#host = host;
    this.#announcer = announcer;
    this.uploader = uploader;
    this.#login = new LoginController(host, () => uploader.settings);
    this.#undo = new UndoController(host, uploader.undo, (text) => announcer.say(text));
    this.#commands = createCommands(frameCommands, host, uploader, {
      withdraw: (outcome, id) => {
        const { files } = this.shown;
        this.#undo.run(
          outcome,
          id === undefined ? files.filter(isOpen) : files.filter((file) => file.id === id),
          id,
        );
      },
      cancelFolder: (path) =>
        this.#undo.run(
          'canceled',
          this.shown.files.filter((file) => isOpen(file) && folderOf(file) === path),
          path,
        ),
      chooseFolder: (path) => this.#do('resumed', () => resumeFolder(uploader, host.renderRoot, path)),
      undo: (id) => this.#undo.undo(id),
      retryFiles: (ids) => this.#do('retried', () => uploader.retryFiles(ids)),
    });
    this.#countdown = new Countdown(host);
    this.#rows = new RowVirtualizer(host);
    this.#order = createRowOrder(host);
    this.#thumbnails = thumbnails;
    this.#keys = new ListKeys(host, (id) => {
      const isFolder = this.#lines.some((line) => line.id === id && line.kind === 'folder');
      this.#commands[isFolder ? 'cancelFolder' : 'remove'](id);
    });
    user.onChange(() => announcer.clear());
    new FocusController(host);
    new LeaveController(host);
    // Only where pages are developed: others don't need the time. An element that is never in a page has no root.
    if (host.isConnected && isLoopback(pageOf(host.renderRoot).location.hostname))
      import('./check-page.ts')
        .then(({ checkPage }) => checkPage(host, host.renderRoot, styles.join('')))
        // Without this code, only the warnings are missing.
        .catch(() => undefined);
    host.addController({
      hostDisconnected: () => announcer.stop(),
      hostUpdated: () => {
        if (host.thumbnails) this.#thumbnails.preload();
      },
    });
  }

  /** The files that the user sees: without those whose removal can still be undone. */
  get shown(): Snapshot {
    return this.uploader.undo.shown(this.uploader.snapshot);
  }

  async addFiles(files: Iterable<PickedFile | UnreadableFile | File>): Promise<void> {
    void this.uploader.undo.complete();
    await this.uploader.addFiles(files);
    // Now, although the last rendering may have been slow.
    this.#host.requestUpdate();
  }

  pause(id?: FileId): Promise<void> {
    return this.#do('paused', () => this.uploader.pause(id));
  }

  /** Resumes like `resume()` of the element. */
  resume(id?: FileId): Promise<void> {
    return this.#do('resumed', () => resume(this.uploader, this.#host.renderRoot, id));
  }

  retry(id?: FileId, name?: string): Promise<void> {
    return this.#do('retried', () => this.uploader.retry(id, name));
  }

  signIn(via?: 'popup' | 'redirect'): void {
    if (!via) this.#login.ask();
    this.uploader.signIn(via);
  }

  /** Calls `run`, and announces what it has changed. */
  async #do(deed: Deed, run: () => Promise<void>): Promise<void> {
    const { files } = this.shown;
    await run();
    this.#announcer.tell(deed, files, this.shown.files);
  }

  /** Removes all files and rejections. */
  removeAll(): void {
    const { files, rejections } = this.uploader.snapshot;
    if (files.length + rejections.length === 0) return;
    void this.uploader.undo.complete();
    // `clear()` also dismisses rejections.
    void Promise.allSettled([...files.map(({ id }) => this.uploader.remove(id)), this.uploader.clear()]);
  }

  /** Returns the complete interface. `state.snapshot` is that of the engine. */
  render(state: Omit<FrameState, 'spoken'>): TemplateResult {
    // A file whose command can be undone keeps its place.
    const snapshot = this.uploader.undo.shown(this.#order.sort(state.snapshot));
    const lines = this.#order.linesOf(snapshot.files);
    this.#lines = lines;
    const listState = {
      snapshot,
      lines,
      causes: this.#order.causesOf(snapshot.files),
      undo: this.#undo.notice,
      spoken: this.#announcer.spoken,
      currentId: this.#keys.currentId,
      hasLogin: this.#login.isShown,
      secondsUntil: (atMs: number | undefined) => this.#countdown.secondsUntil(atMs),
      rows: this.#rows.rangeOf(lines.map(({ id }) => id)),
      thumbnailOf: this.#host.thumbnails ? this.#thumbnails.of : undefined,
    };
    return widget({ ...state, ...listState }, this.#commands);
  }
}

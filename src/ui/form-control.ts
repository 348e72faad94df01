// The element as a form control: value, validity, reset, and the value after the user returns to the page.

import type { PropertyValues } from 'lit';
import type { Change, CompletedDetail } from '../core/changes.ts';
import type { Messages } from '../core/messages.ts';
import { shownText } from '../core/names.ts';
import { needsUser } from '../core/phases.ts';
import type { FileId, FileSnapshot, Snapshot } from '../core/types.ts';
import { CurrentUser } from '../core/user.ts';
import { dismissNotice, tell } from './form-notice.ts';
import { listenOnPage } from './page.ts';
import { Press } from './press.ts';
import { property } from './property.ts';
import { type FileValue, RestoredValues } from './restored-values.ts';
import { SettingsElement } from './settings-element.ts';

/** Returns what a form submits for an uploaded file. */
export type FormValue = (file: CompletedDetail) => string | File;

const entryOf: FormValue = ({ name, sizeBytes, sessionId, chunks }) =>
  JSON.stringify({ name, sizeBytes, sessionId, hashes: chunks.map(({ hash }) => hash) });

/** An uploaded file for which `formValue` returned no value, and why. */
interface FileWithoutValue {
  readonly file: CompletedDetail;
  readonly problem: string;
}

/** A `File` of another document is no instance of this `File`. */
const isValue = (value: unknown): boolean =>
  typeof value === 'string' || Object.prototype.toString.call(value) === '[object File]';

/** A form control with one value per uploaded file. */
export abstract class FormControl extends SettingsElement {
  static formAssociated = true;

  /** Name of the form field. Without a name, forms don't submit the uploaded files. */
  @property({ reflect: true }) name?: string | undefined;
  /** Prevents adding files, as does a disabled `<fieldset>`. Running uploads continue. A form submits no value then. */
  @property({ type: Boolean, reflect: true }) disabled = false;
  /** Forms can be submitted only with an uploaded file. */
  @property({ type: Boolean }) required = false;
  /**
   * Function that returns what a form submits for an uploaded file. If it throws, the form is invalid. Defaults to JSON with
   * `name`, `sizeBytes`, `sessionId` and `hashes`.
   */
  @property({ attribute: false }) formValue?: FormValue | undefined;

  /** Submitting the form starts the uploads, and waits for them. Without it, the form is invalid while files are uploading. */
  @property({ type: Boolean }) submitWhenDone = false;

  protected readonly internals = this.attachInternals();
  readonly #user = new CurrentUser();
  readonly #restored = new RestoredValues(this.#user);
  readonly #values = new Map<FileId, FileValue | FileWithoutValue>();
  /** The current form value, and what its state for the browser depends on. */
  #current: {
    readonly name: string;
    readonly owner: string;
    readonly restoredCount: number;
    readonly values: readonly (string | File)[];
  } = { name: '', owner: '', restoredCount: 0, values: [] };

  /** The last form of the element. */
  #form: HTMLFormElement | null = null;
  /**
   * A submission that waits for the uploads. `leftCount` is the number of files, without those uploaded since the last look;
   * `mustStart` is true if some may not have started.
   */
  #waitingSubmission: { readonly press: Press; leftCount: number; mustStart: boolean } | undefined;

  /** The files that the user sees: without those whose removal can still be undone. */
  protected abstract readonly shown: Snapshot;
  /** @internal */
  abstract readonly texts: Messages;
  /** The setting `min-files`; 0 if it is unset. */
  protected abstract readonly minFileCount: number;
  /** True while chosen or dropped files are being read, and are not in the list yet. */
  protected abstract isReading: () => boolean;
  protected abstract openPicker(): void;
  /** Starts all uploads that wait because of `manual`. */
  abstract start(): Promise<void>;
  /** Removes all files and rejections. */
  protected abstract removeAll(): void;

  constructor() {
    super();
    let isInside = false;
    // A click on a `<label>` is dispatched to the element itself; in Firefox also a click inside of the element, if the label is
    // around it.
    this.addEventListener('click', (event) => {
      if (event.composedPath()[0] !== this) {
        isInside = true;
        setTimeout(() => (isInside = false));
      } else if (!isInside || !event.isTrusted) this.openPicker();
    });
    const drop = (): void => {
      this.dropRestored();
      // An element that was never in the page has no form value yet.
      if (this.hasUpdated) this.#updateForm();
    };
    this.#user.onUnsure(drop);
    this.#user.onChange(() => {
      const wasWaiting = this.#waitingSubmission !== undefined;
      this.#waitingSubmission = undefined;
      this.#values.clear();
      drop();
      // A notice may name a file.
      dismissNotice();
      if (wasWaiting && this.#form?.isConnected) tell(this.#form, this.texts.notSent, false);
    });
    this.addController({
      hostConnected: () => this.#user.connect(),
      hostDisconnected: () => this.#user.disconnect(),
    });
    // Before the browser or a listener of the page validates the form.
    listenOnPage(this, 'click', this.#onClick, true);
  }

  /** The form of the element. */
  get form(): HTMLFormElement | null {
    return this.internals.form;
  }

  /** Whether and why the element is invalid, as in other form controls. */
  get validity(): ValidityState {
    return this.internals.validity;
  }

  /** The message about an invalid element; empty if the element is valid. */
  get validationMessage(): string {
    return this.internals.validationMessage;
  }

  /** False if forms don't validate the element, for example because it is disabled. */
  get willValidate(): boolean {
    return this.internals.willValidate;
  }

  /** Returns true if the element is valid. Otherwise, dispatches `invalid`. */
  checkValidity(): boolean {
    return this.internals.checkValidity();
  }

  /** Like `checkValidity()`, and shows the message. */
  reportValidity(): boolean {
    return this.internals.reportValidity();
  }

  /** @internal The user of the element. What the element keeps for the user is dropped when the user changes. */
  protected get currentUser(): CurrentUser {
    return this.#user;
  }

  protected get isDisabled(): boolean {
    return this.disabled || this.closest('fieldset:disabled') !== null;
  }

  /** Text of the `<label>` elements; empty without a label. */
  protected get labelText(): string {
    return Array.from(this.internals.labels, ({ textContent }) => textContent?.trim()).join(' ');
  }

  /** Number of files that the form submits because the browser restored their values. They are not in the list. */
  protected get restoredCount(): number {
    return this.#restoredValues.length;
  }

  get #restoredValues(): readonly string[] {
    return this.#restored.values;
  }

  protected onFormChange({ name, detail }: Change): void {
    if (name === 'upload-completed') {
      this.#addValue(detail);
      if (this.#waitingSubmission) this.#waitingSubmission.leftCount -= 1;
      // A listener may submit the form. While files are open, the next rendering is early enough; setting the value for each of
      // thousands of files would copy all values each time.
      if (this.shown.totals.openCount === 0) this.#updateForm();
    } else if (name === 'file-removed') {
      this.#values.delete(detail.id);
    }
    // After the listeners of the page. A hidden page is not rendered.
    if (name === 'uploads-finished' || name === 'upload-canceled') queueMicrotask(() => this.#endWait());
    if (name === 'file-added' && this.#waitingSubmission) this.#waitingSubmission.mustStart = true;
  }

  protected dropRestored(): void {
    this.#restored.drop();
    this.requestUpdate();
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has('formValue')) this.#askAgain();
    this.#updateForm();
    this.#endWait();
  }

  protected formAssociatedCallback(form: HTMLFormElement | null): void {
    this.#form?.removeEventListener('submit', this.#onSubmit, true);
    form?.addEventListener('submit', this.#onSubmit, true);
    // An element that is moved has no form for a moment.
    if (form && form !== this.#form) this.#waitingSubmission = undefined;
    this.#form = form ?? this.#form;
    this.requestUpdate();
  }

  /** Called when a `<fieldset>` or the attribute disables or enables the element. */
  protected formDisabledCallback(): void {
    this.requestUpdate();
  }

  protected formResetCallback(): void {
    this.#waitingSubmission = undefined;
    this.dropRestored();
    this.removeAll();
  }

  /** Called when the user goes back or reloads, with the state at that time. */
  protected formStateRestoreCallback(state: File | string | FormData | null): void {
    if (state instanceof FormData) this.#restored.read(state);
    this.requestUpdate();
  }

  #addValue(file: CompletedDetail): void {
    try {
      const value = (this.formValue ?? entryOf)(file);
      const kind = Object.prototype.toString.call(value);
      if (!isValue(value)) throw new TypeError(`formValue returned ${kind} instead of a string or a File`);
      this.#values.set(file.id, { value, mark: this.name ? this.#user.mark() : undefined });
    } catch (error) {
      const problem = String(error);
      const lastEntry = this.#values.get(file.id);
      this.#values.set(file.id, { file, problem });
      if (!lastEntry || 'value' in lastEntry || lastEntry.problem !== problem) reportError(error);
    }
  }

  /** Asks `formValue` again for the files without a value. */
  #askAgain(): void {
    const files = [...this.#values.values()].flatMap((entry) => ('file' in entry ? entry.file : []));
    for (const file of files) this.#addValue(file);
  }

  /** Returns the first uploaded file without a value. Without a name, the form submits no values. */
  #withoutValue({ files }: Snapshot): FileSnapshot | undefined {
    if (!this.name) return undefined;
    return files.find(({ id }) => 'file' in (this.#values.get(id) ?? {}));
  }

  readonly #onClick = (event: Event): void => {
    const [target] = event.composedPath();
    const button = (target as Element).closest?.<HTMLButtonElement>('button, input');
    if (!this.form || button?.form !== this.form || !/submit|image|button/.test(button.type)) return;
    this.#askAgain();
    this.#updateForm();
  };

  readonly #onSubmit = (event: SubmitEvent): void => {
    const { form } = this;
    // Another form may be inside of this one, such as that of the sign-in.
    if (!form || event.target !== form || event.defaultPrevented) return;
    this.#waitingSubmission = undefined;
    // Another owner may be set, or another tab may have signed out, since the last rendering.
    this.performUpdate();
    this.#updateForm();
    const { shown: visibleSnapshot } = this;
    const submitter = event.submitter as HTMLButtonElement | null;
    const isUnsent =
      (this.submitWhenDone && this.#isOpen(visibleSnapshot)) || !(form.noValidate || this.validity.valid);
    if (!isUnsent || !this.willValidate) return;
    if (submitter?.formNoValidate || (submitter?.formMethod || form.method) === 'dialog') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (this.#mayWait(visibleSnapshot))
      this.#waitingSubmission = { press: new Press(form, submitter, this), leftCount: 0, mustStart: true };
    this.#endWait();
    this.#updateForm();
    this.reportValidity();
    if (!this.#isSeen && this.validationMessage) tell(form, this.validationMessage, false);
  };

  /** Returns true if the form would lose files. */
  #isOpen(visibleSnapshot: Snapshot): boolean {
    const { totals } = visibleSnapshot;
    return (
      totals.openCount + totals.failedCount > 0 || this.isReading() || !!this.#withoutValue(visibleSnapshot)
    );
  }

  /** Returns true if a submission can wait, because all files will be uploaded without the user. */
  #mayWait(visibleSnapshot: Snapshot): boolean {
    const { files, totals } = visibleSnapshot;
    if (!this.submitWhenDone || totals.failedCount > 0 || this.#withoutValue(visibleSnapshot)) return false;
    return this.#isOpen(visibleSnapshot) && !files.some(needsUser);
  }

  /** Submits the form if the files it waits for are uploaded. Shows what is invalid if a file has failed, or waits for the user. */
  #endWait(): void {
    const submission = this.#waitingSubmission;
    const { form } = this;
    if (!submission || !form || !this.isConnected) return;
    // A disabled element has no value.
    if (!this.willValidate && !submission.press.isOnlyHeld(this)) return;
    const { shown: visibleSnapshot, texts } = this;
    if (this.#mayWait(visibleSnapshot)) {
      // If the engine cannot be loaded, the element says so.
      if (submission.mustStart) this.start().catch(() => undefined);
      submission.mustStart = false;
      submission.leftCount = visibleSnapshot.totals.openCount;
      return;
    }
    this.#waitingSubmission = undefined;
    this.#updateForm();
    if (this.#isOpen(visibleSnapshot)) {
      this.reportValidity();
      tell(form, `${texts.notSent} ${this.validationMessage}`, this.#isSeen);
    } else if (submission.leftCount > 0 || !submission.press.submit()) {
      // The user has canceled the last upload, and decides again; or another field is invalid.
      tell(form, texts.notSent, false);
    }
  }

  /** True if the browser can show a message at the element. */
  get #isSeen(): boolean {
    return this.checkVisibility({ visibilityProperty: true });
  }

  #updateForm(): void {
    const { internals, minFileCount, renderRoot, required, submitWhenDone, texts } = this;
    const name = this.name ?? '';
    const minCount = Math.max(minFileCount, Number(required));
    // Most pages have no form. The snapshot takes a while in a long list.
    const visibleSnapshot = name !== '' || minCount > 0 || submitWhenDone ? this.shown : undefined;
    const entries = visibleSnapshot?.files.flatMap(({ id }) => this.#values.get(id) ?? []) ?? [];
    const files = entries.flatMap((entry) => ('value' in entry ? entry : []));
    const values = visibleSnapshot ? [...this.#restoredValues, ...files.map(({ value }) => value)] : [];
    this.#setValue(name, values, files);
    const anchor = renderRoot.querySelector<HTMLElement>('.base') ?? undefined;
    const mayWait = visibleSnapshot && this.#mayWait(visibleSnapshot);
    // How many files are being read is not known yet.
    const moreCount = !mayWait ? 0 : this.isReading() ? minCount : visibleSnapshot.totals.openCount;
    const unsendable = visibleSnapshot && this.#withoutValue(visibleSnapshot);
    const text = unsendable
      ? texts.unsendable(shownText(unsendable.name))
      : mayWait
        ? this.#waitingSubmission && texts.submitsLater
        : visibleSnapshot && this.#isOpen(visibleSnapshot) && texts.unfinished;
    // A form without the values needs only uploaded files.
    const uploadedCount = values.length + (name === '' ? entries.length - files.length : 0);
    if (text) internals.setValidity({ customError: true }, text, anchor);
    else if (uploadedCount + moreCount < minCount)
      internals.setValidity({ valueMissing: true }, texts.atLeast(minCount), anchor);
    else internals.setValidity({});
  }

  #setValue(name: string, values: readonly (string | File)[], files: readonly FileValue[]): void {
    const newValue = { name, owner: this.#user.owner, restoredCount: this.#restored.count, values };
    const oldValue = this.#current;
    const isSame = (['name', 'owner', 'restoredCount'] as const).every(
      (key) => newValue[key] === oldValue[key],
    );
    if (
      isSame &&
      values.length === oldValue.values.length &&
      values.every((value, at) => value === oldValue.values[at])
    )
      return;
    const formData = new FormData();
    for (const value of values) formData.append(name, value);
    if (name === '') this.internals.setFormValue(null);
    else this.internals.setFormValue(formData, this.#restored.stateWith(files));
    this.#current = newValue;
  }
}

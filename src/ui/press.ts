// How a form was submitted, while it waits for uploads. Against a second press, pages disable the button or its fieldset, or render
// another button in its place; what the user pressed is sent nevertheless.

import { pageOf } from './page.ts';

type Submitter = HTMLButtonElement | HTMLInputElement;

/** The attributes that decide what a button sends, and how. */
const SENT = [
  'type',
  'name',
  'value',
  'formaction',
  'formenctype',
  'formmethod',
  'formnovalidate',
  'formtarget',
];

const isOff = (part: Element): boolean => part.hasAttribute('disabled');

/** Returns the fieldsets around `part`, which disable it when they are disabled. */
function fieldsetsOf(part: Element | null): Element[] {
  const fieldset = part?.parentElement?.closest('fieldset');
  return fieldset ? [fieldset, ...fieldsetsOf(fieldset)] : [];
}

export class Press {
  readonly #form: HTMLFormElement;
  readonly #button: Submitter | null;
  /** The button as it was. */
  readonly #copy: Submitter | undefined;
  /**
   * The button, and the fieldsets around it and the uploader, if they were enabled. What the page disables after the next input of
   * the user is an answer to that input, and stays disabled.
   */
  #held: readonly Element[];

  constructor(form: HTMLFormElement, button: Submitter | null, uploader: Element) {
    this.#form = form;
    this.#button = button;
    this.#copy = button?.cloneNode() as Submitter | undefined;
    const parts = [...(button ? [button] : []), ...fieldsetsOf(button), ...fieldsetsOf(uploader)];
    this.#held = [...new Set(parts)].filter((part) => !isOff(part));
    const onInput = (): void => {
      this.#held = this.#held.filter(isOff);
    };
    form.addEventListener('input', onInput, { capture: true, once: true });
  }

  /** Returns true if only such fieldsets keep `control` from being sent. */
  isOnlyHeld(control: Element): boolean {
    const off = fieldsetsOf(control).filter(isOff);
    return !isOff(control) && off.length > 0 && off.every((part) => this.#held.includes(part));
  }

  /** Submits the form as it was submitted then. Returns false if the browser found another field of it invalid. */
  submit(): boolean {
    let isSent = false;
    const onSubmit = (): void => {
      isSent = true;
    };
    const page = pageOf(this.#form);
    page.addEventListener('submit', onSubmit, true);
    const off = this.#held.filter(isOff);
    for (const part of off) part.removeAttribute('disabled');
    const copy = this.#isSame() ? undefined : this.#copy;
    if (copy) {
      copy.hidden = true;
      copy.removeAttribute('disabled');
      // Two elements must not have one id.
      if (copy.id && this.#form.ownerDocument.getElementById(copy.id)) copy.removeAttribute('id');
      this.#form.append(copy);
    }
    try {
      this.#form.requestSubmit(copy ?? this.#button);
    } finally {
      page.removeEventListener('submit', onSubmit, true);
      copy?.remove();
      for (const part of off) part.setAttribute('disabled', '');
    }
    return isSent;
  }

  /** Returns true if the button can still send what it would have sent then. */
  #isSame(): boolean {
    const [button, copy] = [this.#button, this.#copy];
    if (!button || !copy) return true;
    const isUsable = button.isConnected && button.form === this.#form && !button.matches(':disabled');
    return isUsable && SENT.every((name) => button.getAttribute(name) === copy.getAttribute(name));
  }
}

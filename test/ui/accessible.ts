// The element as assistive technology and keyboard see it: controls by role and accessible name, operated by real mouse and keys.

import { a11ySnapshot, sendKeys, sendMouse } from '@web/test-runner-commands';

/** A control that takes focus or a click. */
export interface Control {
  readonly role: string;
  readonly name: string;
  readonly isDisabled: boolean;
  readonly element: HTMLElement;
}

const INTERACTIVE =
  'button, a[href], input, select, textarea, summary, [tabindex], [contenteditable], [role]';
const CONTROL_ROLES = new Set([
  'button',
  'link',
  'textbox',
  'combobox',
  'checkbox',
  'radio',
  'switch',
  'tab',
  'menuitem',
  'option',
  'slider',
]);

const TAG_ROLES: Readonly<Record<string, string>> = {
  a: 'link',
  button: 'button',
  input: 'textbox',
  select: 'combobox',
  summary: 'button',
  textarea: 'textbox',
  ul: 'list',
};

const words = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim();

/** The role that the markup gives an element. */
export const roleOf = (element: Element): string =>
  element.getAttribute('role') ?? TAG_ROLES[element.localName] ?? 'generic';

/** The accessible name of an element, as far as this project's markup needs it: `aria-label`, a label around it, its text. */
export function nameOf(element: Element): string {
  const labelled = element.getAttribute('aria-label');
  if (labelled !== null) return words(labelled);
  const label = element.closest('label');
  if (!label) return words(element.textContent);
  const copy = label.cloneNode(true) as Element;
  for (const field of copy.querySelectorAll('input, select')) field.remove();
  return words(copy.textContent);
}

/** Focusable or clickable elements, in document order: of the shadow root, and of the form in the light DOM if it is shown. */
export function controlsOf(host: { readonly renderRoot: ParentNode } & ParentNode): Control[] {
  const found = [...host.renderRoot.querySelectorAll<HTMLElement>(`${INTERACTIVE}, slot`)].flatMap(
    (element) =>
      element instanceof HTMLSlotElement
        ? element.assignedElements().flatMap((each) => [...each.querySelectorAll<HTMLElement>(INTERACTIVE)])
        : [element],
  );
  return found
    .filter((element) => element.tabIndex >= 0 || CONTROL_ROLES.has(roleOf(element)))
    .filter((element) => element.checkVisibility())
    .map((element) => ({
      role: roleOf(element),
      name: nameOf(element),
      isDisabled: element.matches(':disabled'),
      element,
    }));
}

interface TreeNode {
  readonly role: string;
  readonly name?: string;
  readonly disabled?: boolean;
  readonly children?: readonly TreeNode[];
}

/**
 * The controls of the browser's own accessibility tree, in its order. Only Chromium's driver provides that tree: elsewhere
 * `undefined`.
 */
export async function controlsOfTree(): Promise<Omit<Control, 'element'>[] | undefined> {
  if (!navigator.userAgent.includes('Chrome/')) return undefined;
  const flat = ({ children = [], ...node }: TreeNode): TreeNode[] => [node, ...children.flatMap(flat)];
  const tree = (await a11ySnapshot({})) as unknown as TreeNode;
  return (
    flat(tree)
      // Options of a combobox are not listed as controls.
      .filter(({ role }) => CONTROL_ROLES.has(role) && role !== 'option')
      .map(({ role, name = '', disabled = false }) => ({ role, name, isDisabled: disabled }))
  );
}

/** The only control of a name; throws if there is none, or more than one. */
export function controlOf(host: Parameters<typeof controlsOf>[0], name: string): HTMLElement {
  const [control, ...others] = controlsOf(host).filter((each) => each.name === name);
  if (!control || others.length > 0)
    throw new Error(`${others.length > 0 ? 'more than one' : 'no'} control "${name}"`);
  return control.element;
}

/** A real click on the middle of an element. */
export async function click(element: Element): Promise<void> {
  element.scrollIntoView({ block: 'center' });
  const { left, top, width, height } = element.getBoundingClientRect();
  await sendMouse({ type: 'click', position: [Math.round(left + width / 2), Math.round(top + height / 2)] });
}

/** A real key on an element. */
export async function press(element: HTMLElement, key: 'Enter' | ' '): Promise<void> {
  element.focus();
  await sendKeys({ press: key });
}

const focused = (): Element | null => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active;
};

/** Moves the focus from a button before the host to one after it by Tab; returns the names of all focused controls between. */
export async function tabThrough(host: HTMLElement): Promise<string[]> {
  const [before, after] = [document.createElement('button'), document.createElement('button')];
  host.before(before);
  host.after(after);
  before.focus();
  const names: string[] = [];
  for (;;) {
    await sendKeys({ press: 'Tab' });
    const active = focused();
    if (active === after || active === null || active === document.body) break;
    names.push(nameOf(active));
  }
  before.remove();
  after.remove();
  return names;
}

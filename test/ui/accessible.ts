// Finds controls by role and accessible name, and operates them with a real mouse and keyboard.

import { a11ySnapshot, sendKeys, sendMouse } from '@web/test-runner-commands';

/** Element that takes focus or clicks, with its role and accessible name. */
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

/** Returns the role of an element from its `role` attribute, or from its tag. */
export const roleOf = (element: Element): string =>
  element.getAttribute('role') ?? TAG_ROLES[element.localName] ?? 'generic';

/** Returns the accessible name of an element, from what this project uses: `aria-label`, `title`, a surrounding label, or text. */
export function nameOf(element: Element): string {
  const labelled = element.getAttribute('aria-label') ?? element.getAttribute('title');
  if (labelled !== null) return words(labelled);
  const label = element.closest('label');
  if (!label) return words(element.textContent);
  const copy = label.cloneNode(true) as Element;
  for (const field of copy.querySelectorAll('input, select')) field.remove();
  return words(copy.textContent);
}

/** Returns the visible controls in document order: those of the shadow root, and those of the form in the light DOM. */
export function controlsOf(host: { readonly renderRoot: ParentNode } & ParentNode): Control[] {
  const found = [...host.renderRoot.querySelectorAll<HTMLElement>(`${INTERACTIVE}, slot`)].flatMap(
    (element) =>
      element instanceof HTMLSlotElement
        ? element.assignedElements().flatMap((each) => [...each.querySelectorAll<HTMLElement>(INTERACTIVE)])
        : [element],
  );
  return found
    .filter((element) => element.tabIndex >= 0 || CONTROL_ROLES.has(roleOf(element)))
    .filter((element) => roleOf(element) !== 'row')
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

/** Resolves with the controls in the accessibility tree of Chromium, in tree order. In other browsers: `undefined`. */
export async function controlsOfTree(): Promise<Omit<Control, 'element'>[] | undefined> {
  if (!navigator.userAgent.includes('Chrome/')) return undefined;
  const flat = ({ children = [], ...node }: TreeNode): TreeNode[] => [node, ...children.flatMap(flat)];
  const tree = (await a11ySnapshot({})) as unknown as TreeNode;
  return (
    flat(tree)
      // Omits the options of a combobox, as `controlsOf` does.
      .filter(({ role }) => CONTROL_ROLES.has(role) && role !== 'option')
      .map(({ role, name = '', disabled = false }) => ({ role, name, isDisabled: disabled }))
  );
}

/** Returns the only control named `name`; throws if there is none, or more than one. */
export function controlOf(host: Parameters<typeof controlsOf>[0], name: string): HTMLElement {
  const [control, ...others] = controlsOf(host).filter((each) => each.name === name);
  if (!control || others.length > 0)
    throw new Error(`${others.length > 0 ? 'more than one' : 'no'} control "${name}"`);
  return control.element;
}

/** Clicks the middle of an element with the real mouse. */
export async function click(element: Element): Promise<void> {
  element.scrollIntoView({ block: 'center' });
  const { left, top, width, height } = element.getBoundingClientRect();
  await sendMouse({ type: 'click', position: [Math.round(left + width / 2), Math.round(top + height / 2)] });
}

/** Focuses an element and presses a real key. */
export async function press(element: HTMLElement, key: 'Enter' | ' '): Promise<void> {
  element.focus();
  await sendKeys({ press: key });
}

const focused = (): Element | null => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active;
};

/** The name that `tabThrough` returns for the tab stop of the list. */
export const LIST = 'the list';

/**
 * Presses Tab from a button before the host until the focus leaves the host. Resolves with the names of all focused controls; a
 * focused row has the name `LIST`.
 */
export async function tabThrough(host: HTMLElement): Promise<string[]> {
  const [before, after] = [document.createElement('button'), document.createElement('button')];
  host.before(before);
  host.after(after);
  before.focus();
  const names: string[] = [];
  // No state has nearly as many tab stops. The limit ends the loop if the focus never leaves the host.
  while (names.length < 100) {
    await sendKeys({ press: 'Tab' });
    const active = focused();
    if (active === after || active === null || active === document.body) break;
    names.push(roleOf(active) === 'row' ? LIST : nameOf(active));
  }
  before.remove();
  after.remove();
  return names;
}

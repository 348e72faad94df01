// Checks what the page writes around the element and into its tag: custom properties, children and attributes. Loaded only on
// localhost.

import { warnOnceHere } from '../core/warn.ts';
import { warnOfProperties } from './check-properties.ts';
import type { SecureUploaderEvents } from './event-map.ts';
import { propertiesIn, unknownProperties } from './page-properties.ts';

const EVENTS: Readonly<Record<keyof SecureUploaderEvents, true>> = {
  'file-add': true,
  'auth-redirect': true,
  'file-added': true,
  'file-rejected': true,
  'rejections-dismissed': true,
  'file-removed': true,
  'file-moved': true,
  'file-renamed': true,
  'upload-started': true,
  'upload-progress': true,
  'upload-paused': true,
  'upload-resumed': true,
  'upload-completed': true,
  'upload-failed': true,
  'upload-canceled': true,
  'uploads-finished': true,
  'chunk-hashed': true,
  'chunk-uploaded': true,
  'auth-required': true,
  'auth-challenged': true,
  'auth-changed': true,
  'auth-failed': true,
  'signed-in': true,
  'signed-out': true,
};

/** The slots of the page. */
const SLOTS = ['empty', 'icon', 'invitation', 'hint', 'buttons', 'row-{id}', 'footer'];

/** True for a slot of the page, and for `login`, which the element fills. */
const isSlot = (name: string): boolean =>
  name === 'login' || SLOTS.includes(name.replace(/^row-.+$/, 'row-{id}'));

/** What no text has that is for pages whose script does not load. */
const NO_TEXT = [
  'button, input, select, textarea, form, table, h1, h2, h3, h4, h5, h6',
  'main, nav, header, footer, section, article, secure-uploader',
].join();

const isText = (child: Element): boolean => !child.matches(NO_TEXT) && !child.querySelector(NO_TEXT);

/** Warns about the first child that is not shown, unless it is a text for pages whose script does not load. */
function warnOfChildren({ children }: HTMLElement): void {
  const child = Array.from(children).find((each) => !(each.slot ? isSlot(each.slot) : isText(each)));
  if (child) warnOnceHere(`<${child.localName}> in <secure-uploader> ${whyHidden(child)}`);
}

function whyHidden({ slot }: Element): string {
  if (slot) return `is not shown, because there is no slot "${slot}". The slots are ${SLOTS.join(', ')}.`;
  const hint = 'If it should be after the element: HTML ignores "/>", write </secure-uploader>.';
  return `has no slot, so it is not shown. ${hint}`;
}

const plain = (name: string): string => name.replaceAll('-', '');

/** Warns about attributes such as `onupload-completed`: browsers read only those of their own events. */
function warnOfListeners(host: HTMLElement): void {
  for (const attribute of host.getAttributeNames()) {
    const event = Object.keys(EVENTS).find((name) => plain(attribute) === `on${plain(name)}`);
    if (event) warnOnceHere(`The attribute ${attribute} does nothing. Use addEventListener("${event}", …).`);
  }
}

/** Warns about what the page of an element with these styles has, and the element does not know. */
export function checkPage(host: HTMLElement, inside: Node, styles: string): void {
  const properties = propertiesIn(styles);
  warnOfProperties(unknownProperties(inside, properties), properties);
  warnOfChildren(host);
  warnOfListeners(host);
}

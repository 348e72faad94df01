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

/** The slots of the page, and `login`, which the element fills. */
const KNOWN_SLOT = /^(?:empty|icon|invitation|hint|buttons|row-.+|footer|login)$/;

/** What no text has that is for pages whose script does not load. */
const NO_TEXT =
  'button, input, select, textarea, form, table, h1, h2, h3, h4, h5, h6, main, nav, header, footer, section, article, secure-uploader';

/** Warns about the first child that is not shown, unless it is a text for pages whose script does not load. */
function warnOfChildren({ children }: HTMLElement): void {
  const lost = Array.from(children).find((child) =>
    child.slot ? !KNOWN_SLOT.test(child.slot) : child.matches(NO_TEXT) || child.querySelector(NO_TEXT),
  );
  if (!lost) return;
  const why = lost.slot
    ? `is not shown, because there is no slot "${lost.slot}". The slots are empty, icon, invitation, hint, buttons, row-{id}, footer.`
    : 'has no slot, so it is not shown. If it should be after the element: HTML ignores "/>", write </secure-uploader>.';
  warnOnceHere(`<${lost.localName}> in <secure-uploader> ${why}`);
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

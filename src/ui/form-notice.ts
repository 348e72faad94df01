// Tells the user what becomes of a form that waits for uploads, wherever the uploader is: browsers show no message at an element in
// a hidden step, and none if the form has no error.

import { css } from 'lit';
import { pageOf } from './page.ts';
import { adopt } from './styles/css.ts';
import { palette } from './styles/tokens.ts';

const styles = css`
  :host {
    position: fixed;
    inset: auto 0 0;
    pointer-events: none;
  }

  [role] {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }

  [popover] {
    inset: auto 1rem 1rem;
    margin: 0 auto;
    inline-size: fit-content;
    max-inline-size: min(34em, 100% - 2rem);
    box-sizing: border-box;
    padding: 0.8em 1.1em;
    border: 1px solid var(--_edge);
    border-inline-start: 4px solid var(--_accent);
    border-radius: var(--_inner);
    background: var(--_surface);
    color: var(--_text);
    font: inherit;
    line-height: 1.4;
  }
`;

let dismiss = (): void => undefined;

/** Removes the notice that is shown. */
export const dismissNotice = (): void => dismiss();

/**
 * Announces `text` to screen readers. Unless `isSeen`, also shows it at the bottom of the page, until the user presses somewhere or
 * Escape, or a form is sent.
 */
export function tell(form: HTMLFormElement, text: string, isSeen: boolean): void {
  dismiss();
  const { ownerDocument: document } = form;
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  adopt(root, [palette, styles]);
  const region = document.createElement('div');
  region.setAttribute('role', 'alert');
  const popover = document.createElement('p');
  popover.setAttribute('popover', 'manual');
  // The region announces the text.
  popover.setAttribute('aria-hidden', 'true');
  popover.textContent = text;
  root.append(region, popover);
  // Nothing outside of a modal dialog can be seen or read.
  (form.closest('dialog') ?? document.body).append(host);
  if (!isSeen) popover.showPopover?.();
  // Screen readers announce what changes in a region.
  setTimeout(() => {
    region.textContent = text;
  });
  const life = new AbortController();
  dismiss = () => {
    life.abort();
    host.remove();
  };
  const on = (type: string, listener: (event: Event) => void): void =>
    pageOf(form).addEventListener(type, listener, { capture: true, signal: life.signal });
  on('pointerdown', dismiss);
  on('submit', dismiss);
  on('keydown', (event) => {
    if ((event as KeyboardEvent).key === 'Escape') dismiss();
  });
}

// Position of the focus after the focused control was removed.

import { expect } from '@open-wc/testing';
import type { ReactiveController } from 'lit';
import { FocusController, type FocusHost } from '../../src/ui/focus-controller.ts';

class Host {
  readonly element = document.createElement('div');
  readonly renderRoot = this.element.attachShadow({ mode: 'open' });
  readonly controllers: ReactiveController[] = [];
  readonly updateComplete = Promise.resolve(true);
  readonly focus: FocusController;

  constructor() {
    document.body.append(this.element);
    this.focus = new FocusController(this as unknown as FocusHost);
  }

  addController(controller: ReactiveController): void {
    this.controllers.push(controller);
  }
  removeController(): void {}
  requestUpdate(): void {}

  /** Replaces the buttons. `html` has each button as `id:action`. */
  show(html: string): void {
    this.renderRoot.innerHTML = html.replace(
      /(\w+):(\w*)/g,
      (_, id, action) => `<button id="${id}"${action ? ` data-action="${action}"` : ''}></button>`,
    );
  }

  byId(id: string): HTMLElement {
    const found = this.renderRoot.getElementById(id);
    if (!found) throw new Error(`there is no ${id}`);
    return found;
  }

  get focused(): string {
    return this.renderRoot.activeElement?.id ?? '';
  }

  connect(): void {
    for (const controller of this.controllers) controller.hostConnected?.();
  }

  disconnect(): void {
    for (const controller of this.controllers) controller.hostDisconnected?.();
  }

  /** Simulates a rendering in which `change` changes the buttons. Returns the id of the focused button. */
  render(change: () => void): string {
    this.focus.hostUpdate();
    change();
    this.focus.hostUpdated();
    return this.focused;
  }
}

let host: Host;

beforeEach(() => {
  host = new Host();
});
afterEach(() => {
  host.element.remove();
});

const actions = (...buttons: string[]): string => `<span class="actions">${buttons.join(' ')}</span>`;
const row = (...buttons: string[]): string => `<div class="row">${actions(...buttons)}</div>`;
const LIST = `top:browse<section>${row('a1:go', 'a2:end')}${row('b1:go', 'b2:end')}${row('c1:go', 'c2:end')}${row('d1:go', 'd2:end')}</section>`;
const removeRow = (id: string): void => host.byId(id).closest('.row')?.remove();

describe('the focus', () => {
  it('is managed by a controller of the element', () => {
    expect(host.controllers).to.include(host.focus);
  });

  it('stays where its button stays', () => {
    host.show(LIST);
    host.byId('b2').focus();
    expect(host.render(() => removeRow('a1'))).to.equal('b2');
  });

  for (const group of ['actions', 'bulk', 'panel'])
    it(`goes to the button of the same action in its ${group}, else to the first one there`, () => {
      host.show(`top:browse<div class="${group}">x:other y:same</div>`);
      host.byId('y').focus();
      expect(
        host.render(() => {
          host.byId('y').outerHTML = '<button id="z" data-action="same"></button>';
        }),
      ).to.equal('z');
      expect(host.render(() => host.byId('z').remove())).to.equal('x');
    });

  it('goes to another button of its row if its group is removed', () => {
    host.show(
      `top:browse<section>${row('a1:go')}<div class="row">n:rename ${actions('b1:go', 'b2:end')}</div></section>`,
    );
    host.byId('b2').focus();
    expect(host.render(() => host.byId('b1').parentElement?.remove())).to.equal('n');
  });

  it('goes to the same action of the next row, then of the row before, the nearest first', () => {
    host.show(LIST);
    host.byId('b2').focus();
    expect(host.render(() => removeRow('b1'))).to.equal('c2');
    expect(
      host.render(() => {
        removeRow('c1');
        removeRow('d1');
      }),
    ).to.equal('a2');
    host.show(LIST);
    host.byId('c1').focus();
    expect(
      host.render(() => {
        removeRow('c1');
        removeRow('d1');
      }),
    ).to.equal('b1');
  });

  it('skips rows without a button', () => {
    host.show(LIST);
    host.byId('b1').focus();
    expect(
      host.render(() => {
        removeRow('b1');
        host.byId('c1').closest('.row')?.replaceChildren();
      }),
    ).to.equal('d1');
  });

  it('goes to the button that picks files if nothing near is left', () => {
    host.show(LIST);
    host.byId('b1').focus();
    expect(host.render(() => host.renderRoot.querySelector('section')?.remove())).to.equal('top');
    host.show('top:browse<p>lone:</p>');
    host.byId('lone').focus();
    expect(host.render(() => host.byId('lone').remove())).to.equal('top');
  });

  it('is not taken from outside the element, even if it was inside before', () => {
    host.show(LIST);
    expect(host.render(() => removeRow('b1'))).to.equal('');
    host.byId('c1').focus();
    host.focus.hostUpdate();
    host.focus.hostUpdated();
    host.byId('c1').blur();
    removeRow('c1');
    host.focus.hostUpdated();
    expect(host.focused).to.equal('');
  });

  it('goes to the panel of a lost window when the user comes back to the page', () => {
    host.show('<div id="lost" data-state="popup-lost" tabindex="-1"></div>top:browse');
    const comeBack = (): string => {
      host.byId('top').focus();
      window.dispatchEvent(new FocusEvent('focus'));
      return host.focused;
    };
    expect(comeBack()).to.equal('top');
    host.connect();
    expect(comeBack()).to.equal('lost');
    host.disconnect();
    expect(comeBack()).to.equal('top');
    host.connect();
    host.byId('lost').dataset.state = 'popup';
    expect(comeBack()).to.equal('top');
  });
});

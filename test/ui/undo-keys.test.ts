// Ctrl+Z in the widget undoes what its button "Undo" undoes; and how long that is possible after a tap.

import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { freshFile } from '../support/bytes.ts';
import { skipTime, stopClock } from '../support/clock.ts';
import { fileReaches, reaches, replace, type World, world } from '../support/world.ts';
import { all, button, one, shown } from './support.ts';

const undoSteps: (() => void)[] = [];

afterEach(() => {
  for (const each of undoSteps.splice(0)) each();
});

/** Opens a list in which each file is being sent. */
async function open(...names: string[]): Promise<World<true>> {
  const stage = await world({ element: true, answers: ['open', 'presign', 'cancel'], concurrency: 6 });
  await stage.element.addFiles(names.map((name) => freshFile(900, name)));
  for (const name of names) await fileReaches(stage, name, 'uploading');
  await render(stage);
  return stage;
}

const notice = ({ element }: World<true>): HTMLElement | undefined => all(element, '[part~=undo]')[0];

async function render({ element }: World<true>): Promise<void> {
  element.requestUpdate();
  await element.updateComplete;
}

async function press(stage: World<true>, name: string): Promise<void> {
  button(stage.element, name).click();
  await render(stage);
}

describe('Ctrl+Z', () => {
  /** Presses Z with these keys. */
  const pressZ = async (key: string, ...held: string[]): Promise<void> => {
    for (const each of held) await sendKeys({ down: each });
    await sendKeys({ press: key });
    for (const each of held) await sendKeys({ up: each });
  };

  it('undoes a removal and a cancel of all, wherever the focus is in the widget', async () => {
    const stage = await open('a.txt', 'b.txt');
    one(stage.element, '.row').focus();
    await sendKeys({ press: 'Delete' });
    await render(stage);
    expect(all(stage.element, '.row')).to.have.length(1);
    await pressZ('z', 'Control');
    await reaches(stage, ['a.txt uploading', 'b.txt uploading']);
    undoSteps.push(skipTime(1000));
    await press(stage, 'Cancel all');
    button(stage.element, 'Choose files').focus();
    await pressZ('z', 'Control');
    await reaches(stage, ['a.txt uploading', 'b.txt uploading']);
    expect(stage.service.count('cancel')).to.equal(0);
  });

  it('is left to the page while nothing can be undone, in its own inputs, and with further keys', async () => {
    const stage = await open('a.txt');
    const left: boolean[] = [];
    stage.element.addEventListener('keydown', (event) => {
      if (event.key.toLowerCase() === 'z') left.push(!event.defaultPrevented);
    });
    one(stage.element, '.row').focus();
    await pressZ('z', 'Control');
    expect(left).to.deep.equal([true]);
    await press(stage, 'Cancel: a.txt');
    await pressZ('Z', 'Control', 'Shift');
    await pressZ('z', 'Alt');
    expect(left).to.deep.equal([true, true, true]);
    expect(notice(stage)?.textContent).to.contain('Upload canceled');
    const input = document.createElement('input');
    input.slot = 'hint';
    stage.element.append(input);
    input.focus();
    await pressZ('z', 'Control');
    expect(left).to.deep.equal([true, true, true, true]);
    expect(notice(stage)?.textContent).to.contain('Upload canceled');
  });
});

describe('the end of a cancel of all', () => {
  it('is in time after a tap, although `:hover` stays at the footer', async () => {
    const stage = await open('a.txt', 'b.txt');
    const own = Element.prototype.matches;
    replace(Element.prototype, 'matches', function matches(this: Element, selector: string) {
      return selector.startsWith(':hover') || own.call(this, selector);
    });
    button(stage.element, 'More actions').click();
    const { shadowRoot } = stage.element;
    await shown(() => shadowRoot?.activeElement === button(stage.element, 'Pause all'));
    const clock = stopClock();
    undoSteps.push(() => clock.restore());
    button(stage.element, 'Cancel all').focus();
    button(stage.element, 'Cancel all').click();
    await clock.pass(8000);
    await reaches(stage, ['a.txt canceled', 'b.txt canceled']);
  });
});

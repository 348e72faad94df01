// Things inside the zone keep their own meaning; only the zone's own surface opens the picker.

import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse } from '@web/test-runner-commands';
import { freshFile } from '../support/bytes.ts';
import { replace, type World, world } from '../support/world.ts';
import { all, dragEvent, one, shown, textFile, textOf, transferOf } from './support.ts';

const made: Element[] = [];

afterEach(async () => {
  await resetMouse();
  for (const each of made.splice(0)) each.remove();
});

/** Opens an element with `hint` in its zone. Pickers are logged in `asked`. */
async function openWith(hint: string): Promise<World<true> & { readonly hint: HTMLElement }> {
  const stage = await world({ element: true, answers: ['open', 'presign'], manual: true });
  replace(globalThis, 'showOpenFilePicker' as never, async () => {
    stage.asked.push('picker');
    return [];
  });
  const box = document.createElement('div');
  box.slot = 'hint';
  box.innerHTML = hint;
  stage.element.append(box);
  await stage.element.updateComplete;
  return { ...stage, hint: box };
}

async function click(target: Element): Promise<void> {
  target.scrollIntoView({ block: 'nearest' });
  const { left, top, width, height } = target.getBoundingClientRect();
  const position: [number, number] = [Math.round(left + width / 2), Math.round(top + height / 2)];
  await sendMouse({ type: 'click', position });
}

describe('a click in the zone', () => {
  it('on what acts itself, also deep inside it or in a shadow root, opens no picker', async () => {
    const { hint, asked } = await openWith(`
      <details><summary><b>More</b></summary>Text</details><svg width="40" height="20"><a href="javascript:"><rect width="40" height="20"></rect></a></svg>
      <img usemap="#areas" width="40" height="20" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='20'/%3E"><map
      name="areas"><area href="javascript:" coords="0,0,40,20"></map><label><i>Label</i><input></label><p contenteditable><u>Editable</u></p><div class="open"></div>
      <em>Plain</em>`);
    const inner = (hint.querySelector('.open') as Element).attachShadow({ mode: 'open' });
    inner.innerHTML = '<button><s>Inner</s></button>';
    const targets = [...hint.querySelectorAll('b, rect, img, i, u'), inner.querySelector('s') as Element];
    expect(targets).to.have.length(6);
    for (const target of targets) {
      await click(target);
      expect(asked, target.localName).to.deep.equal([]);
    }
    expect(hint.querySelector('details')?.open).to.equal(true);
    await click(hint.querySelector('em') as Element);
    expect(asked).to.deep.equal(['picker']);
  });

  it('opens one picker in a label, in which the buttons of the list act once', async () => {
    const { element, asked } = await openWith('');
    const label = document.createElement('label');
    label.append('Files');
    element.replaceWith(label);
    label.append(element);
    made.push(label);
    await click(one(element, '.badge'));
    expect(asked.splice(0)).to.deep.equal(['picker']);
    await element.addFiles([freshFile(900, 'a.txt'), freshFile(900, 'b.txt')]);
    await shown(() => all(element, '.row').length === 2);
    await click(one(element, '.row [data-action=end]'));
    await shown(() => textOf(element).includes('Upload canceled'));
    expect([all(element, '.row.canceled').length, asked]).to.deep.equal([1, []]);
  });

  it('that a listener of the page has prevented, also one of a script, opens nothing', async () => {
    const { hint, asked } = await openWith('<em>Plain</em>');
    const plain = hint.querySelector('em') as HTMLElement;
    const prevent = (event: Event): void => event.preventDefault();
    plain.addEventListener('click', prevent);
    plain.click();
    await click(plain);
    expect(asked).to.deep.equal([]);
    plain.removeEventListener('click', prevent);
    plain.click();
    expect(asked).to.deep.equal(['picker']);
  });
});

describe('a field in a slot', () => {
  it('of an element in a row of the page has its keys', async () => {
    const { element, hint } = await openWith('<input value="abc">');
    const grid = document.createElement('div');
    grid.className = 'row';
    element.replaceWith(grid);
    grid.append(element);
    made.push(grid);
    const field = hint.querySelector('input') as HTMLInputElement;
    const seen: string[] = [];
    grid.addEventListener('keydown', ({ key, defaultPrevented }) => seen.push(`${key} ${defaultPrevented}`));
    field.focus();
    field.setSelectionRange(3, 3);
    for (const key of ['Backspace', 'ArrowLeft', 'Delete', 'x', 'Escape']) await sendKeys({ press: key });
    expect(field.value).to.equal('ax');
    expect(document.activeElement).to.equal(field);
    expect(seen).to.have.length(5);
    expect(seen.filter((each) => each.endsWith('true'))).to.deep.equal([]);
  });

  it('that takes files gets a drop and a paste', async () => {
    const { element, hint } = await openWith('<input type="file"><textarea></textarea><em>Plain</em>');
    const [input, area, plain] = [...hint.children] as [Element, Element, Element];
    const drop = (target: Element): boolean =>
      !target.dispatchEvent(dragEvent('drop', transferOf(textFile(`${target.localName}.txt`))));
    expect(drop(input)).to.equal(false);
    (area as HTMLElement).focus();
    const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true });
    Object.defineProperty(paste, 'clipboardData', { value: transferOf(textFile('pasted.txt')) });
    expect(area.dispatchEvent(paste)).to.equal(true);
    const added = new Promise((resolve) => element.addEventListener('file-added', resolve, { once: true }));
    expect(drop(plain)).to.equal(true);
    await added;
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['em.txt']);
  });
});

it('a button in a slot may call click() of the element from a listener of the document, as React does', async () => {
  const { element, asked, hint } = await openWith('<button>Mine</button>');
  const onClick = ({ target }: Event): unknown => target === hint.firstElementChild && element.click();
  document.addEventListener('click', onClick);
  await click(hint.firstElementChild as Element);
  document.removeEventListener('click', onClick);
  expect(asked).to.deep.equal(['picker']);
});

it('a key in the list that the page has handled does nothing, and Escape leaves the list before it closes a dialog', async () => {
  const { element } = await openWith('');
  const dialog = document.createElement('dialog');
  element.replaceWith(dialog);
  dialog.append(element);
  made.push(dialog);
  dialog.showModal();
  await element.addFiles([textFile('a.txt'), textFile('b.txt')]);
  await shown(() => all(element, '.row').length === 2);
  const [first, second] = all(element, '.row') as [HTMLElement, HTMLElement];
  first.focus();
  const prevent = (event: Event): void => event.preventDefault();
  addEventListener('keydown', prevent, { capture: true });
  for (const key of ['ArrowDown', 'Delete', 'Escape']) await sendKeys({ press: key });
  removeEventListener('keydown', prevent, { capture: true });
  await element.updateComplete;
  expect(element.shadowRoot?.activeElement).to.equal(first);
  expect(textOf(element)).not.to.contain('Upload canceled');
  await sendKeys({ press: 'ArrowDown' });
  expect(element.shadowRoot?.activeElement).to.equal(second);
  await sendKeys({ press: 'Escape' });
  expect(dialog.open).to.equal(true);
  await sendKeys({ press: 'Escape' });
  await shown(() => !dialog.open);
});

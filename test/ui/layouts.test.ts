// `layout` and the slots: what is shown, and what replaces it.

import { expect, html } from '@open-wc/testing';
import { file, STATES, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { SecureUploader, Snapshot } from '../../src/index.ts';
import { world } from '../support/world.ts';
import { show } from './show.ts';
import { all, dragEvent, nextEvent, one, shown, textFile, transferOf } from './support.ts';

const ONE = snapshot([file('a.pdf', 'uploading', 45_000_000, 0.5)]);

const heightOf = (element: WidgetFixture, selector: string): number =>
  one(element, selector).getBoundingClientRect().height;

const isVisible = (element: WidgetFixture, selector: string): boolean =>
  all(element, selector).some((each) => each.checkVisibility());

describe('the layout', () => {
  it('area has a large drop zone until there are files, and so has an unknown layout', async () => {
    for (const layout of ['area', '', 'tiles']) {
      const element = await show('empty', { layout, width: 600 });
      expect(heightOf(element, '.zone'), layout).to.be.greaterThan(150);
      await element.show(ONE);
      expect(heightOf(element, '.zone'), layout).to.be.lessThan(80);
    }
  });

  it('bar and overlay have one line with title and button, with and without files', async () => {
    for (const layout of ['bar', 'overlay']) {
      const element = await show('empty', { layout, width: 600 });
      for (const state of [STATES.empty as Snapshot, ONE]) {
        await element.show(state);
        expect(heightOf(element, '.zone'), layout).to.be.lessThan(80);
        expect(isVisible(element, '.zone .title'), layout).to.equal(true);
        expect(isVisible(element, '[data-action=browse]'), layout).to.equal(true);
      }
    }
  });

  it('button has only the buttons, and a frame when there is more than that', async () => {
    const element = await show('empty', { layout: 'button', width: 600 });
    const frame = (): string => getComputedStyle(one(element, '.base')).borderTopWidth;
    expect(isVisible(element, '.zone .title')).to.equal(false);
    expect(heightOf(element, '.base')).to.equal(heightOf(element, '[data-action=browse]'));
    expect(frame()).to.equal('0px');
    await element.show(ONE);
    expect(frame()).to.equal('1px');
    expect(isVisible(element, '[data-action=browse]')).to.equal(true);
  });

  it('keeps the limits visible without files', async () => {
    for (const layout of ['area', 'bar', 'button', 'overlay']) {
      const element = await show('empty', { layout, width: 600 });
      element.rules = { ...element.rules, accept: '.pdf' };
      await element.show(STATES.empty as Snapshot);
      expect(one(element, '.hint').textContent, layout).to.equal('PDF');
      expect(isVisible(element, '.hint'), layout).to.equal(true);
    }
  });

  it('overlay covers the page while files are dragged over it, and adds the dropped files', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    element.layout = 'overlay';
    await element.updateComplete;
    const data = transferOf(textFile('dropped.txt'));
    expect(element.renderRoot.querySelector('.overlay')).to.equal(null);
    document.body.dispatchEvent(dragEvent('dragover', data));
    await element.updateComplete;
    const overlay = one(element, '[part=overlay]');
    expect(overlay.matches(':popover-open')).to.equal(true);
    const { width, height } = overlay.getBoundingClientRect();
    expect([width > innerWidth - 40, height > innerHeight - 40]).to.deep.equal([true, true]);
    document.body.dispatchEvent(dragEvent('dragover', data));
    await element.updateComplete;
    const added = nextEvent(element, 'file-added');
    document.body.dispatchEvent(dragEvent('drop', data));
    expect((await added).detail.name).to.equal('dropped.txt');
    await element.updateComplete;
    expect(element.renderRoot.querySelector('.overlay')).to.equal(null);
  });

  it('overlay of two elements: the first one that is not disabled takes the drop', async () => {
    const elements: SecureUploader[] = [];
    for (const disabled of [true, false, false])
      elements.push(
        Object.assign((await world({ element: true, service: 'reference', manual: true })).element, {
          layout: 'overlay',
          disabled,
        }),
      );
    for (const { updateComplete } of elements) await updateComplete;
    const [, second] = elements as [SecureUploader, SecureUploader, SecureUploader];
    document.body.dispatchEvent(dragEvent('dragover', transferOf(textFile('a.txt'))));
    expect(elements.map((each) => each.matches(':state(dragging)'))).to.deep.equal([false, false, false]);
    for (const { updateComplete } of elements) await updateComplete;
    expect(elements.map((each) => each.matches(':state(dragging)'))).to.deep.equal([false, true, false]);
    const added = nextEvent(second, 'file-added');
    document.body.dispatchEvent(dragEvent('drop', transferOf(textFile('a.txt'))));
    await added;
    expect(elements.map(({ snapshot }) => snapshot.files.length)).to.deep.equal([0, 1, 0]);
  });

  it('overlay leaves a drop on another uploader to that one', async () => {
    const overlay = Object.assign(
      (await world({ element: true, service: 'reference', manual: true })).element,
      { layout: 'overlay' },
    );
    const { element: area } = await world({ element: true, service: 'reference', manual: true });
    await overlay.updateComplete;
    const added = nextEvent(area, 'file-added');
    area.dispatchEvent(dragEvent('drop', transferOf(textFile('a.txt'))));
    await added;
    expect([overlay, area].map(({ snapshot }) => snapshot.files.length)).to.deep.equal([0, 1]);
  });
});

describe('the slot', () => {
  for (const [name, replaced] of [
    ['icon', '.zone .icon'],
    ['invitation', '.zone .title'],
    ['buttons', '[data-action=browse]'],
    ['hint', '.hint'],
    ['empty', '.choices'],
  ] as const)
    it(`${name} replaces what is there without it`, async () => {
      const rules = { accept: '.pdf' };
      const own = await show('empty', { layout: 'area', width: 600 });
      own.rules = { ...own.rules, ...rules };
      await own.show(STATES.empty as Snapshot);
      const textOf = (element: WidgetFixture): string => one(element, replaced).innerText ?? 'icon';
      expect(isVisible(own, replaced), 'without content').to.equal(true);
      expect(textOf(own)).not.to.equal('');
      const element = await show('empty', {
        layout: 'area',
        width: 600,
        slotted: html`<b slot=${name}>Own</b>`,
      });
      element.rules = { ...element.rules, ...rules };
      await element.show(STATES.empty as Snapshot);
      expect(isVisible(element, replaced) && textOf(element) !== '', 'with content').to.equal(false);
      expect(element.querySelector('b')?.checkVisibility()).to.equal(true);
    });

  it('empty disappears when there are files', async () => {
    const element = await show(ONE, { layout: 'area', width: 600, slotted: html`<b slot="empty">Own</b>` });
    expect(element.querySelector('b')?.checkVisibility()).to.equal(false);
    expect(isVisible(element, '[data-action=browse]')).to.equal(true);
  });

  it('footer replaces the footer', async () => {
    const two = snapshot([file('a.pdf', 'uploading', 1000, 0.5), file('b.pdf', 'queued', 1000)]);
    expect(isVisible(await show(two, { layout: 'area', width: 600 }), '.totals')).to.equal(true);
    const element = await show(two, { layout: 'area', width: 600, slotted: html`<b slot="footer">Own</b>` });
    expect(isVisible(element, '.totals')).to.equal(false);
    expect(element.querySelector('b')?.checkVisibility()).to.equal(true);
  });

  it('row-{id} adds content to the row of one file, with the full width in a narrow place', async () => {
    const two = snapshot([file('a.pdf', 'uploading', 1000, 0.5), file('b.pdf', 'done', 1000)]);
    const id = two.files[1]?.id ?? '';
    for (const width of ['600px', '300px']) {
      const element = await show(two, {
        layout: 'area',
        width: 600,
        slotted: html`<p slot=${`row-${id}`}>Own</p>`,
      });
      element.style.inlineSize = width;
      const own = (element.querySelector('p') as HTMLElement).getBoundingClientRect();
      const row = one(element, `.row[data-id="${id}"]`).getBoundingClientRect();
      expect([own.top > row.top, own.bottom < row.bottom, own.width > 200], width).to.deep.equal([
        true,
        true,
        true,
      ]);
    }
  });

  it('shows content that is added later, in the footer and in a row', async () => {
    const { element } = await world({ element: true, service: 'reference', manual: true });
    await element.addFiles([textFile('a.txt'), textFile('b.txt')]);
    await element.updateComplete;
    const [, file] = element.snapshot.files;
    for (const slot of ['footer', `row-${file?.id}`]) {
      const own = document.createElement('b');
      own.textContent = 'Own';
      element.append(own);
      own.slot = slot;
      await shown(() => own.checkVisibility());
      own.remove();
      await shown(() => element.renderRoot.querySelector(`slot[name="${slot}"]`) === null);
    }
  });

  it('buttons: a click on its content does not also open the file picker', async () => {
    const element = await show('empty', {
      layout: 'area',
      width: 600,
      slotted: html`<b slot="buttons">Own</b>`,
    });
    element.querySelector('b')?.click();
    expect(element.calls).to.deep.equal([]);
    one(element, '.zone').click();
    expect(element.calls).to.deep.equal([['browse', 'files']]);
  });

  it('draws no line below the drop zone if nothing follows it', async () => {
    const element = await show('empty', { layout: 'bar', width: 600 });
    expect(getComputedStyle(one(element, '.zone')).borderBottomWidth).to.equal('0px');
    await element.show(ONE);
    expect(getComputedStyle(one(element, '.zone')).borderBottomWidth).to.equal('1px');
  });
});

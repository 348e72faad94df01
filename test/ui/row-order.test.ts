// The order of the rows: in long lists, failed rows go to the top and finished rows to the end, except while rows are used.

import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { FileSnapshot, Phase } from '../../src/index.ts';
import { show } from './show.ts';
import { all, button, one, shown } from './support.ts';

const oneFile = (name: string, phase: Phase): FileSnapshot =>
  file(name, phase, 10, 0.5, phase === 'failed' ? { error: { code: 'network', retryable: true } } : {});

/** Files named `a`, `b`, … with the given phases, and queued ones up to `count`. */
const files = (count: number, ...phases: Phase[]): FileSnapshot[] =>
  Array.from({ length: count }, (_, index) =>
    oneFile(String.fromCharCode(97 + index), phases[index] ?? 'queued'),
  );

const order = (element: WidgetFixture): string =>
  all(element, '.row')
    .map(({ dataset }) => dataset.id?.replace('id-', ''))
    .join('');

async function pointAt(row: HTMLElement): Promise<void> {
  const { left, top, height } = row.getBoundingClientRect();
  await sendMouse({ type: 'move', position: [Math.round(left + 30), Math.round(top + height / 2)] });
  await shown(() => row.matches(':hover'));
}

async function twoFrames(): Promise<void> {
  for (let count = 0; count < 2; count += 1) await new Promise(requestAnimationFrame);
}

describe('the rows of a long list', () => {
  afterEach(() => resetMouse());

  it('have failed files first, then open ones, then those that are done or canceled', async () => {
    const element = await show(files(12, 'done', 'failed', 'uploading', 'canceled', 'done', 'failed'));
    expect(order(element)).to.equal('bfcghijklade');
    expect(all(element, '.row').map((row) => row.ariaRowIndex)).to.deep.equal(
      Array.from({ length: 12 }, (_, index) => `${index + 1}`),
    );
  });

  it('never move in a list of ten files', async () => {
    const element = await show(files(10, 'done', 'failed', 'uploading', 'done'));
    expect(order(element)).to.equal('abcdefghij');
  });

  it('show what is uploaded, although more files are done than fit', async () => {
    const element = await show('many');
    const area = one(element, '.scroller').getBoundingClientRect();
    const running = all(element, '.row.uploading').map((row) => row.getBoundingClientRect());
    expect(running).to.have.length(4);
    for (const row of running) expect(row.bottom).to.be.at.most(area.bottom);
  });

  it('stay where they are under the mouse, and move when it leaves', async () => {
    const element = await show(files(12, 'uploading', 'uploading'));
    await pointAt(one(element, '.row[data-id=id-b]'));
    const next = files(12, 'done', 'uploading');
    await element.show(snapshot(next));
    expect(order(element)).to.equal('abcdefghijkl');
    await sendMouse({ type: 'move', position: [0, 0] });
    await element.show(snapshot(next));
    expect(order(element)).to.equal('bcdefghijkla');
  });

  it('stay where they are while the keyboard is in the list', async () => {
    const element = await show(files(12, 'uploading', 'uploading'));
    one(element, '.row[data-id=id-a]').focus();
    await sendKeys({ press: 'ArrowDown' });
    await element.show(snapshot(files(12, 'done', 'uploading')));
    expect(order(element)).to.equal('abcdefghijkl');
  });

  it('move when the mouse leaves, although nothing else changes', async () => {
    const element = await show(files(12, 'uploading', 'uploading'));
    await pointAt(one(element, '.row[data-id=id-b]'));
    await element.show(snapshot(files(12, 'done', 'uploading')));
    await sendMouse({ type: 'move', position: [0, 0] });
    await shown(() => order(element) === 'bcdefghijkla');
  });

  it('move when the focus leaves, although nothing else changes', async () => {
    const element = await show(files(12, 'uploading', 'uploading'));
    one(element, '.row[data-id=id-a]').focus();
    await sendKeys({ press: 'ArrowDown' });
    await element.show(snapshot(files(12, 'done', 'uploading')));
    await sendKeys({ press: 'ArrowDown' });
    await sendKeys({ press: 'ArrowRight' });
    await twoFrames();
    expect(order(element)).to.equal('abcdefghijkl');
    // To the next button of the row, and out of the list.
    for (const key of ['Tab', 'Tab']) await sendKeys({ press: key });
    await shown(() => order(element) === 'bcdefghijkla');
  });

  it('stay where they are under the mouse when the list becomes long or short', async () => {
    const element = await show(files(11, 'done', 'uploading'));
    expect(order(element)).to.equal('bcdefghijka');
    await pointAt(one(element, '.row[data-id=id-c]'));
    await element.show(snapshot(files(10, 'done', 'uploading')));
    expect(order(element)).to.equal('bcdefghija');
    await sendMouse({ type: 'move', position: [0, 0] });
    await shown(() => order(element) === 'abcdefghij');
    await pointAt(one(element, '.row[data-id=id-c]'));
    await element.show(snapshot(files(11, 'done', 'uploading')));
    expect(order(element)).to.equal('abcdefghijk');
  });

  it('take the focus with them', async () => {
    const element = await show(files(12, 'uploading', 'uploading'));
    const pause = button(element, 'Pause: a');
    const { left, top, width, height } = pause.getBoundingClientRect();
    const position: [number, number] = [Math.round(left + width / 2), Math.round(top + height / 2)];
    await sendMouse({ type: 'click', position });
    await sendMouse({ type: 'move', position: [0, 0] });
    pause.focus();
    await element.show(snapshot(files(12, 'done', 'uploading')));
    expect(order(element)).to.equal('bcdefghijkla');
    expect(element.shadowRoot?.activeElement?.closest<HTMLElement>('.row')?.dataset.id).to.equal('id-a');
  });
});

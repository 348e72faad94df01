// Cancel, cancel all and remove by button: what can be undone, for how long, and where the focus goes.

import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse } from '@web/test-runner-commands';
import { UploaderError } from '../../src/core/errors.ts';
import { freshFile } from '../support/bytes.ts';
import { type Clock, skipTime, stopClock } from '../support/clock.ts';
import { fileReaches, reaches, stateOf, type World, world } from '../support/world.ts';
import { click } from './accessible.ts';
import { all, button, one, shown, textOf } from './support.ts';

let clock: Clock | undefined;
const undoSteps: (() => void)[] = [];

afterEach(async () => {
  clock?.restore();
  clock = undefined;
  for (const each of undoSteps.splice(0)) each();
  await resetMouse();
});

/** Opens a list in which each file is being sent. `ended` records the events that end an upload. */
async function open(...names: string[]): Promise<World<true> & { readonly ended: string[] }> {
  const settings = { concurrency: 6 };
  const stage = await world({ element: true, answers: ['open', 'presign', 'cancel'], ...settings });
  const ended: string[] = [];
  for (const name of ['upload-canceled', 'file-removed'] as const)
    stage.element.addEventListener(name, ({ detail }) => ended.push(`${name} ${detail.name}`));
  await stage.element.addFiles(names.map((name) => freshFile(900, name)));
  for (const name of names) await fileReaches(stage, name, 'uploading');
  stage.element.requestUpdate();
  await stage.element.updateComplete;
  return { ...stage, ended };
}

const notice = ({ element }: World<true>): HTMLElement | undefined => all(element, '[part~=undo]')[0];

/** Lets time pass so that the next activation does not count as a repeated one. */
const later = (): unknown => undoSteps.push(skipTime(1000));

const namesOf = ({ element }: World<true>): (string | null)[] =>
  all(element, '.row .name').map(({ textContent }) => textContent);
const focused = ({ element }: World<true>): Element | null | undefined => element.shadowRoot?.activeElement;

async function render({ element }: World<true>): Promise<void> {
  element.requestUpdate();
  await element.updateComplete;
}

async function press(stage: World<true>, name: string): Promise<void> {
  button(stage.element, name).click();
  await render(stage);
}

/** Clicks Cancel of `a.txt` and stops the clock. */
async function cancelWithClock(stage: World<true>): Promise<Clock> {
  clock = stopClock();
  await press(stage, 'Cancel: a.txt');
  return clock;
}

describe('cancel by its button', () => {
  it('pauses the upload and deletes nothing for 8 seconds, then cancels it', async () => {
    const stage = await open('a.txt');
    const time = await cancelWithClock(stage);
    await time.pass(7999);
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user']);
    expect([stage.ended, stage.service.count('cancel')]).to.deep.equal([[], 0]);
    await render(stage);
    expect(notice(stage)?.textContent).to.contain('Upload canceled');
    expect(all(stage.element, '.row.canceled')).to.have.length(1);
    await time.pass(1);
    await reaches(stage, ['a.txt canceled']);
    expect(stage.ended).to.deep.equal(['upload-canceled a.txt']);
    expect(notice(stage)).to.equal(undefined);
  });

  for (const [where, name] of [
    ['the footer', 'Undo'],
    ['its row', 'Undo: a.txt'],
  ] as const)
    it(`is undone by the button of ${where}, and the upload continues`, async () => {
      const stage = await open('a.txt');
      await press(stage, 'Cancel: a.txt');
      await press(stage, name);
      await reaches(stage, ['a.txt uploading']);
      expect([stage.ended, notice(stage)]).to.deep.equal([[], undefined]);
      stage.service.answerAll();
      await reaches(stage, ['a.txt done']);
      expect(stage.service.count('open')).to.equal(1);
    });

  it('is announced once, with the hint that it can be undone', async () => {
    const stage = await open('a.txt');
    await press(stage, 'Cancel: a.txt');
    expect(one(stage.element, '[role=status]').textContent).to.equal(
      'Upload canceled: a.txt. You can undo this for a few seconds.',
    );
    expect(notice(stage)?.closest('[aria-live]')).to.equal(null);
    expect(notice(stage)?.hasAttribute('role')).to.equal(false);
  });

  it('is completed by the next one', async () => {
    const stage = await open('a.txt', 'b.txt');
    await press(stage, 'Cancel: a.txt');
    later();
    await press(stage, 'Cancel: b.txt');
    await reaches(stage, ['a.txt canceled', 'b.txt paused user']);
    await press(stage, 'Undo');
    await reaches(stage, ['a.txt canceled', 'b.txt uploading']);
  });

  it('of all files shows no progress of all files, and its undo shows it again', async () => {
    const stage = await open('a.txt', 'b.txt');
    const bars = (): number => all(stage.element, '[part~=total-progress]').length;
    expect(bars()).to.equal(1);
    clock = stopClock();
    await press(stage, 'Cancel all');
    expect(bars()).to.equal(0);
    await press(stage, 'Undo');
    expect(bars()).to.equal(1);
    await clock.pass(1000);
    await press(stage, 'Cancel all');
    await clock.pass(8000);
    await render(stage);
    expect([notice(stage), bars()]).to.deep.equal([undefined, 0]);
  });

  it('has no undo if the page calls the method', async () => {
    const stage = await open('a.txt', 'b.txt');
    const [a, b] = stage.element.snapshot.files;
    await stage.element.cancel(a?.id);
    await stage.element.remove(b?.id ?? '');
    expect(stage.ended).to.deep.equal([
      'upload-canceled a.txt',
      'upload-canceled b.txt',
      'file-removed b.txt',
    ]);
    await render(stage);
    expect(notice(stage)).to.equal(undefined);
  });
});

describe('cancel all by its button', () => {
  it('can be undone for all files, and for one of them', async () => {
    const stage = await open('a.txt', 'b.txt', 'c.txt');
    await press(stage, 'Cancel all');
    expect(notice(stage)?.textContent).to.contain('3 uploads canceled');
    expect(one(stage.element, '[part=headline]').textContent).to.equal('0 of 3 files done');
    await press(stage, 'Undo: b.txt');
    await reaches(stage, ['a.txt paused user', 'b.txt uploading', 'c.txt paused user']);
    expect(notice(stage)?.textContent).to.contain('2 uploads canceled');
    await press(stage, 'Undo');
    await reaches(stage, ['a.txt uploading', 'b.txt uploading', 'c.txt uploading']);
    expect(stage.ended).to.deep.equal([]);
  });

  it('can be undone for all files, and leaves the focus on a row', async () => {
    const stage = await open('a.txt', 'b.txt', 'c.txt');
    await press(stage, 'Pause: a.txt');
    await reaches(stage, ['a.txt paused user', 'b.txt uploading', 'c.txt uploading']);
    button(stage.element, 'More actions').click();
    await shown(() => focused(stage) === button(stage.element, 'Pause all'));
    button(stage.element, 'Cancel all').focus();
    for (const key of ['Enter', 'Enter']) await sendKeys({ press: key });
    await render(stage);
    expect(all(stage.element, '.row.canceled')).to.have.length(3);
    expect(focused(stage)).to.equal(all(stage.element, '.row')[0]);
    await press(stage, 'Undo');
    await reaches(stage, ['a.txt paused user', 'b.txt uploading', 'c.txt uploading']);
    expect(stage.ended).to.deep.equal([]);
  });

  it('leaves no button beside "Undo" that removes the files for good', async () => {
    const stage = await open('a.txt', 'b.txt');
    await press(stage, 'Cancel all');
    await render(stage);
    const labels = all(stage.element, '.bulk button').map((each) => each.textContent);
    expect(labels).to.deep.equal(['Undo']);
  });

  it('moves the focus from "Undo" to a row, not to another action for all files', async () => {
    const stage = await open('a.txt', 'b.txt');
    await press(stage, 'Cancel: a.txt');
    await render(stage);
    button(stage.element, 'Undo').focus();
    await sendKeys({ press: 'Enter' });
    await reaches(stage, ['a.txt uploading', 'b.txt uploading']);
    await render(stage);
    expect(focused(stage)?.classList.contains('row')).to.equal(true);
  });

  it('leaves completed files as they are', async () => {
    const stage = await open('a.txt');
    stage.service.answerAll();
    await reaches(stage, ['a.txt done']);
    stage.service.hold('put');
    await stage.element.addFiles(freshFile(900, 'b.txt'));
    await fileReaches(stage, 'b.txt', 'uploading');
    await render(stage);
    await press(stage, 'Cancel all');
    expect(all(stage.element, '.row.done')).to.have.length(1);
    expect(notice(stage)?.textContent).to.contain('Upload canceled');
  });
});

describe('a long list', () => {
  it('keeps the row of a canceled file at its place until the cancel is complete', async () => {
    const names = Array.from('abcdefghijkl', (name) => `${name}.txt`);
    const stage = await open(...names.slice(0, 3));
    await stage.element.addFiles(names.slice(3).map((name) => freshFile(900, name)));
    const order = (): string => namesOf(stage).join('').replaceAll('.txt', '');
    await render(stage);
    const time = await cancelWithClock(stage);
    expect([order(), all(stage.element, '.row.canceled').length]).to.deep.equal(['abcdefghijkl', 1]);
    await time.pass(8000);
    await fileReaches(stage, 'a.txt', 'canceled');
    await render(stage);
    expect(order()).to.equal('bcdefghijkla');
    const idOf = (name: string): string =>
      stage.element.snapshot.files.find((file) => file.name === name)?.id ?? '';
    await stage.element.move(idOf('l.txt'), idOf('c.txt'));
    await render(stage);
    expect(order()).to.equal('blcdefghijka');
  });
});

describe('remove by its button', () => {
  it('hides the row, keeps the file, and restores the row at its place', async () => {
    const stage = await open('a.txt', 'b.txt');
    stage.service.answerAll();
    await reaches(stage, ['a.txt done', 'b.txt done']);
    await press(stage, 'Remove from list: a.txt');
    expect(all(stage.element, '.row')).to.have.length(1);
    expect(textOf(stage.element)).to.contain('File removed from the list');
    expect(stateOf(stage)).to.deep.equal(['a.txt done', 'b.txt done']);
    await press(stage, 'Undo');
    expect(textOf(stage.element)).to.match(/a\.txt.*b\.txt/);
    expect(stage.ended).to.deep.equal([]);
  });
});

describe('the time to undo', () => {
  for (const [how, hold, release] of [
    [
      'the focus',
      (it: HTMLElement) => it.querySelector('button')?.focus(),
      (it: HTMLElement) => it.querySelector('button')?.blur(),
    ],
    [
      'the pointer',
      (it: HTMLElement) => it.dispatchEvent(new PointerEvent('pointermove')),
      (it: HTMLElement) => it.dispatchEvent(new PointerEvent('pointerleave')),
    ],
  ] as const)
    it(`stands still while the footer has ${how}, and then continues`, async () => {
      const stage = await open('a.txt');
      const time = await cancelWithClock(stage);
      await time.pass(5000);
      const found = await shown(() => notice(stage));
      hold(found);
      await time.pass(60_000);
      expect(stateOf(stage)).to.deep.equal(['a.txt paused user']);
      release(found);
      await time.pass(2999);
      expect(stateOf(stage)).to.deep.equal(['a.txt paused user']);
      await time.pass(1);
      await reaches(stage, ['a.txt canceled']);
    });

  it('needs no timer any more when the command was undone', async () => {
    const { setTimeout, clearTimeout } = globalThis;
    const timers = new Set<unknown>();
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms?: number) => {
        const timer = setTimeout(run, ms);
        if (ms === 8000) timers.add(timer);
        return timer;
      },
      clearTimeout: (timer: number) => {
        timers.delete(timer);
        clearTimeout(timer);
      },
    });
    undoSteps.push(() => Object.assign(globalThis, { setTimeout, clearTimeout }));
    const stage = await open('a.txt');
    await press(stage, 'Cancel: a.txt');
    expect(timers.size).to.equal(1);
    await press(stage, 'Undo');
    expect(timers.size).to.equal(0);
  });

  it('stands still while the footer has the pointer, although the focus leaves it', async () => {
    const stage = await open('a.txt');
    await press(stage, 'Cancel: a.txt');
    const found = await shown(() => notice(stage));
    const { left, top } = found.getBoundingClientRect();
    found.querySelector('button')?.focus();
    await sendMouse({ type: 'move', position: [Math.round(left + 5), Math.round(top + 5)] });
    await shown(() => found.matches(':hover'));
    clock = stopClock();
    found.querySelector('button')?.blur();
    await clock.pass(60_000);
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user']);
  });

  for (const [title, end, state] of [
    [
      'leaving the page',
      () => void globalThis.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })),
      ['a.txt canceled'],
    ],
    ['a sign-out', ({ element }: World<true>) => element.signOut(), []],
    [
      'a change of the owner',
      async ({ element }: World<true>) => {
        element.owner = 'bob';
        await element.updateComplete;
      },
      [],
    ],
    ['removing the element', ({ element }: World<true>) => element.remove(), ['a.txt canceled']],
    [
      'adding a file',
      ({ element }: World<true>) => element.addFiles(freshFile(900, 'b.txt')),
      ['a.txt canceled', 'b.txt uploading'],
    ],
  ] as const)
    it(`ends with ${title}`, async () => {
      const stage = await open('a.txt');
      stage.element.owner = 'alice';
      await stage.element.updateComplete;
      await press(stage, 'Cancel: a.txt');
      await end(stage);
      while (stateOf(stage).join() !== state.join()) await new Promise(requestAnimationFrame);
      expect(stage.ended[0]).to.equal('upload-canceled a.txt');
      await render(stage);
      expect(notice(stage)).to.equal(undefined);
    });
});

describe('repeated activation', () => {
  it('of a button by key ends only its own upload, and leaves the focus on its row', async () => {
    const stage = await open('a.txt', 'b.txt');
    button(stage.element, 'Cancel: a.txt').focus();
    for (let count = 0; count < 3; count += 1) await sendKeys({ press: 'Enter' });
    await render(stage);
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user', 'b.txt uploading']);
    expect(focused(stage)).to.equal(all(stage.element, '.row')[0]);
  });

  it('of a button by mouse ends only its own upload', async () => {
    const stage = await open('a.txt', 'b.txt');
    const position = button(stage.element, 'Cancel: a.txt');
    for (let count = 0; count < 3; count += 1) {
      await click(position);
      await render(stage);
    }
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user', 'b.txt uploading']);
    expect(all(stage.element, '.row')).to.have.length(2);
  });

  it('counts from the last activation', async () => {
    const stage = await open('a.txt', 'b.txt', 'c.txt');
    clock = stopClock();
    await press(stage, 'Cancel: a.txt');
    await clock.pass(400);
    await press(stage, 'Cancel: b.txt');
    await clock.pass(400);
    await press(stage, 'Cancel: c.txt');
    expect(stateOf(stage)).to.deep.equal(['a.txt paused user', 'b.txt uploading', 'c.txt uploading']);
    await clock.pass(500);
    await press(stage, 'Cancel: c.txt');
    expect(stateOf(stage)[2]).to.equal('c.txt paused user');
  });

  it('after a removal finds the focus on a row beside it, or on the whole interface', async () => {
    const stage = await world({ element: true });
    await stage.element.addFiles(['a.txt', 'b.txt', 'c.txt'].map((name) => freshFile(900, name)));
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      const request = await stage.service.nextRequest('open');
      request.refuse(new UploaderError('bad-config', name));
    }
    await reaches(stage, ['a.txt failed', 'b.txt failed', 'c.txt failed']);
    const removed = async (name: string): Promise<Element | null | undefined> => {
      later();
      button(stage.element, `Remove from list: ${name}`).focus();
      await press(stage, `Remove from list: ${name}`);
      return focused(stage);
    };
    const idOf = (name: string): string | undefined =>
      stage.element.snapshot.files.find((file) => file.name === name)?.id;
    expect(((await removed('b.txt')) as HTMLElement).dataset.id).to.equal(idOf('c.txt'));
    expect(((await removed('c.txt')) as HTMLElement).dataset.id).to.equal(idOf('a.txt'));
    expect((await removed('a.txt'))?.getAttribute('part')).to.equal('base');
    await sendKeys({ press: 'Enter' });
    expect(stage.asked).to.deep.equal([]);
  });
});

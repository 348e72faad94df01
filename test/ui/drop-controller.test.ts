// Drag, drop and paste events: which files the element accepts, and when the element prevents navigation to a dropped file.

import { expect } from '@open-wc/testing';
import { nextTask } from '../../src/core/wait.ts';
import { stopClock } from '../support/clock.ts';
import { until } from '../support/collect.ts';
import { createDropPage, type DropPage, type Place, words } from './fixtures/drop-page.ts';
import { textFile, transferOf } from './support.ts';

let page: DropPage;

beforeEach(() => {
  page = createDropPage();
});

afterEach(() => page.remove());

/** Returns drag data as a plain object, so that tests can read `dropEffect`. Browsers ignore `dropEffect` on a synthetic drag. */
const held = (data: DataTransfer): DataTransfer & { dropEffect: string } => ({
  ...({ types: data.types, items: data.items, files: data.files } as unknown as DataTransfer),
  dropEffect: 'none',
});

/** Dispatches a drag event. Returns whether the default was prevented, the drop effect, and whether files are over the element. */
function drag(type: string, place: Place, data = held(transferOf(textFile('a.txt')))): unknown[] {
  const event = new DragEvent(type, { bubbles: true, cancelable: true, composed: true });
  Object.defineProperty(event, 'dataTransfer', { value: data });
  page.places[place].dispatchEvent(event);
  return [event.defaultPrevented, data.dropEffect, page.drop.intake.dragging];
}

const leave = (to?: Place): DragEvent =>
  new DragEvent('dragleave', { bubbles: true, composed: true, relatedTarget: to ? page.places[to] : null });

describe('a drag', () => {
  for (const [title, type, place, data, isDisabled, expected] of [
    ['of files that enters the element', 'dragenter', 'host', 'files', false, [true, 'copy', true]],
    ['of files over the element', 'dragover', 'host', 'files', false, [true, 'copy', true]],
    ['of files over a child of the element', 'dragover', 'inside', 'files', false, [true, 'copy', true]],
    ['of text over the element', 'dragover', 'host', 'text', false, [false, 'none', false]],
    ['of files over a disabled element', 'dragover', 'host', 'files', true, [true, 'none', false]],
    ['of files beside the element', 'dragover', 'page', 'files', false, [true, 'none', false]],
    ['of text beside the element', 'dragover', 'page', 'text', false, [false, 'none', false]],
    [
      'of files over a file input of the page',
      'dragover',
      'file input',
      'files',
      false,
      [false, 'none', false],
    ],
  ] as const)
    it(title, () => {
      page.host.disabled = isDisabled;
      expect(drag(type, place, data === 'text' ? held(words()) : undefined)).to.deep.equal(expected);
    });

  it('that the page handles itself is ignored', () => {
    const data = held(transferOf(textFile('a.txt')));
    page.places.page.addEventListener('dragover', (event) => {
      event.preventDefault();
      data.dropEffect = 'move';
    });
    expect(drag('dragover', 'page', data)).to.deep.equal([true, 'move', false]);
  });

  it('without data is ignored', () => {
    const event = new DragEvent('dragover', { bubbles: true, cancelable: true });
    page.host.dispatchEvent(event);
    expect([event.defaultPrevented, page.drop.intake.dragging]).to.deep.equal([false, false]);
  });

  for (const [title, to, isHeld] of [
    ['that moves to a child of the element is still over it', 'inside', true],
    ['that leaves the element is not over it', 'page', false],
  ] as const)
    it(title, () => {
      drag('dragenter', 'host');
      page.host.dispatchEvent(leave(to));
      expect(page.drop.intake.dragging).to.equal(isHeld);
    });

  it('that leaves the window is not over it', async () => {
    drag('dragenter', 'host');
    page.host.dispatchEvent(leave());
    await until(() => !page.drop.intake.dragging);
  });

  it('stays over the element if the browser does not tell what it leaves for', async () => {
    const clock = stopClock();
    drag('dragenter', 'host');
    const { updateCount } = page.host;
    for (let count = 0; count < 10; count++) {
      page.host.dispatchEvent(leave());
      drag('dragover', 'inside');
    }
    await clock.pass(250);
    clock.restore();
    expect([page.drop.intake.dragging, page.host.updateCount]).to.deep.equal([true, updateCount]);
  });

  it('has ended when the pointer moves', () => {
    drag('dragenter', 'host');
    page.places.page.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
    expect(page.drop.intake.dragging).to.equal(false);
  });

  it('that began in the page is ignored, also beside the element, and the next one is not', () => {
    for (const end of ['dragend', 'pointermove']) {
      page.places.page.dispatchEvent(new DragEvent('dragstart', { bubbles: true }));
      expect(drag('dragover', 'host')).to.deep.equal([false, 'none', false]);
      expect(drag('drop', 'page')).to.deep.equal([false, 'none', false]);
      page.places.page.dispatchEvent(new Event(end, { bubbles: true }));
      expect(drag('dragover', 'host')).to.deep.equal([true, 'copy', true]);
    }
  });

  for (const place of ['text field', 'text area', 'editable'] as const)
    it(`over ${place} is left alone, and prevented only if the page does not take the drop`, () => {
      expect(drag('dragover', place)).to.deep.equal([false, 'none', false]);
      expect(drag('drop', place)).to.deep.equal([true, 'none', false]);
      const data = held(transferOf(textFile('a.txt')));
      page.places[place].addEventListener('drop', (event) => {
        event.preventDefault();
        data.dropEffect = 'link';
      });
      expect(drag('drop', place, data)).to.deep.equal([true, 'link', false]);
    });

  for (const [title, mode] of [
    ['a listener on the window that was added later', undefined],
    ['an open shadow root', 'open'],
    ['a closed shadow root', 'closed'],
  ] as const)
    it(`is left to ${title}`, () => {
      const zone = document.createElement('div');
      const inner = mode ? zone.attachShadow({ mode }).appendChild(document.createElement('b')) : zone;
      page.places.page.append(zone);
      const seen: boolean[] = [];
      const data = held(transferOf(textFile('a.txt')));
      const handle = (event: Event): void => {
        seen.push(event.defaultPrevented);
        event.preventDefault();
        data.dropEffect = 'move';
      };
      const target = mode ? inner : globalThis;
      for (const type of ['dragover', 'drop']) target.addEventListener(type, handle);
      try {
        for (const type of ['dragover', 'drop']) {
          const event = new DragEvent(type, { bubbles: true, cancelable: true, composed: true });
          Object.defineProperty(event, 'dataTransfer', { value: data });
          inner.dispatchEvent(event);
        }
      } finally {
        for (const type of ['dragover', 'drop']) target.removeEventListener(type, handle);
      }
      expect([seen, data.dropEffect]).to.deep.equal([[false, false], 'move']);
    });

  it('over an element with a closed shadow root, which can have a file input, is left alone', () => {
    if (!customElements.get('closed-root'))
      customElements.define('closed-root', class extends HTMLElement {});
    const dragOver = (target: Element): boolean => {
      const event = new DragEvent('dragover', { bubbles: true, cancelable: true, composed: true });
      Object.defineProperty(event, 'dataTransfer', { value: held(transferOf(textFile('a.txt'))) });
      target.dispatchEvent(event);
      return event.defaultPrevented;
    };
    const closed = document.createElement('closed-root');
    const root = closed.attachShadow({ mode: 'closed' });
    page.places.page.append(closed, document.createElement('never-defined'));
    expect(dragOver(closed)).to.equal(false);
    expect(dragOver(page.places.page.lastElementChild as Element), 'without a shadow root').to.equal(true);
    const beside = document.createElement('p');
    root.append(page.host, beside);
    expect(dragOver(beside), 'beside the element in that root').to.equal(true);
    closed.remove();
  });

  it('over an element in a slot is accepted, unless that element takes it', () => {
    const slotted = page.host.appendChild(document.createElement('div'));
    const data = held(transferOf(textFile('a.txt')));
    const dragOver = (): unknown[] => {
      const event = new DragEvent('dragover', { bubbles: true, cancelable: true, composed: true });
      Object.defineProperty(event, 'dataTransfer', { value: data });
      slotted.dispatchEvent(event);
      return [data.dropEffect, page.drop.intake.dragging];
    };
    expect(dragOver()).to.deep.equal(['copy', true]);
    slotted.addEventListener('dragover', (event) => {
      event.preventDefault();
      data.dropEffect = 'link';
    });
    expect(dragOver()).to.deep.equal(['link', false]);
  });

  for (const type of ['dragleave', 'drop'])
    it(`has ended after a ${type} that the page keeps for itself`, async () => {
      page.host.layout = 'overlay';
      drag('dragover', 'page');
      page.places.page.addEventListener(type, (event) => event.stopPropagation());
      page.places.page.dispatchEvent(new DragEvent(type, { bubbles: true, composed: true }));
      await until(() => !page.drop.intake.dragging);
    });

  it('renders the element when it enters and when it leaves, and not in between', () => {
    for (const [type, place, updateCount] of [
      ['dragenter', 'host', 1],
      ['dragover', 'host', 1],
      ['dragover', 'inside', 1],
      ['dragover', 'page', 2],
      ['dragover', 'page', 2],
    ] as const) {
      drag(type, place);
      expect(page.host.updateCount, `${type} ${place}`).to.equal(updateCount);
    }
  });

  it('is dropped, and its events are ignored, once the element is removed from the page', () => {
    drag('dragenter', 'host');
    const { host, drop } = page;
    const parent = host.parentElement as Element;
    host.remove();
    expect(drop.intake.dragging).to.equal(false);
    expect(drag('dragover', 'page')).to.deep.equal([false, 'none', false]);
    parent.append(host);
    expect(drag('dragover', 'host')).to.deep.equal([true, 'copy', true]);
  });
});

describe('a drag of files over the page of an overlay', () => {
  for (const [title, type, place, isDisabled, expected] of [
    ['is accepted beside the element', 'dragover', 'page', false, [true, 'copy', true]],
    ['is accepted over the element', 'dragenter', 'inside', false, [true, 'copy', true]],
    ['is accepted over a text field', 'dragover', 'text field', false, [true, 'copy', true]],
    ['is left to a file input', 'dragover', 'file input', false, [false, 'none', false]],
    ['is not accepted while the element is disabled', 'dragover', 'page', true, [true, 'none', false]],
  ] as const)
    it(title, () => {
      Object.assign(page.host, { layout: 'overlay', disabled: isDisabled });
      expect(drag(type, place)).to.deep.equal(expected);
    });

  it('ends when it leaves the window, and over a drop target of the page', async () => {
    page.host.layout = 'overlay';
    const { host, places, drop } = page;
    places.editable.addEventListener('dragover', (event) => event.preventDefault());
    drag('dragover', 'page');
    host.dispatchEvent(leave('page'));
    expect(drop.intake.dragging, 'beside the element').to.equal(true);
    places.page.dispatchEvent(leave());
    await until(() => !drop.intake.dragging);
    drag('dragover', 'page');
    expect(drag('dragover', 'editable'), 'over a drop target of the page').to.deep.equal([
      true,
      'none',
      false,
    ]);
  });

  it('is read when it is dropped anywhere, and not on a drop target of the page', async () => {
    page.host.layout = 'overlay';
    page.places.editable.addEventListener('drop', (event) => event.preventDefault());
    drag('drop', 'editable', held(transferOf(textFile('other.txt'))));
    expect(drag('drop', 'page')).to.deep.equal([true, 'copy', false]);
    await until(() => page.files.length > 0);
    expect(page.files).to.deep.equal(['a.txt']);
  });
});

describe('a drop', () => {
  for (const [title, place, data, isDisabled, prevented, names] of [
    ['of a file on the element is read', 'inside', 'files', false, true, ['a.txt']],
    ['of text on the element is ignored', 'host', 'text', false, false, []],
    ['on a disabled element does not leave the page', 'host', 'files', true, true, []],
    ['beside the element does not leave the page', 'page', 'files', false, true, []],
    ['on a file input of the page is ignored', 'file input', 'files', false, false, []],
  ] as const)
    it(title, async () => {
      drag('dragenter', 'host');
      page.host.disabled = isDisabled;
      const [isPrevented, , isHeld] = drag('drop', place, data === 'text' ? held(words()) : undefined);
      expect(isPrevented).to.equal(prevented);
      expect(isHeld).to.equal(false);
      await until(() => page.files.length === names.length);
      expect(page.files).to.deep.equal(names);
    });

  for (const [title, leave] of [['the user changes', () => page.drop.leave()]] as const)
    it(`that is still being read when ${title} adds nothing`, async () => {
      let found = (_: File): void => undefined;
      const file = (done: (file: File) => void): void => {
        found = done;
      };
      const entry = { name: 'a.txt', isFile: true, file };
      const items = [{ kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => entry }];
      drag('drop', 'host', { types: ['Files'], items } as unknown as ReturnType<typeof held>);
      await nextTask();
      leave();
      found(textFile('a.txt'));
      await nextTask();
      expect(page.files).to.deep.equal([]);
      expect(page.drop.intake.readingCount).to.equal(undefined);
    });

  it('counts found files while it is read, and shows what it skipped until the next one', async () => {
    const { drop, host } = page;
    const counts: (number | undefined)[] = [];
    Object.defineProperty(host, 'requestUpdate', { value: () => counts.push(drop.intake.readingCount) });
    /** Completes the reading of `b.txt`, the last file of the folder. */
    let goOn = (): void => undefined;
    const empty = {
      name: 'empty',
      isDirectory: true,
      createReader: () => ({ readEntries: (done: (all: object[]) => void) => done([]) }),
    };
    const last = {
      name: 'b.txt',
      isFile: true,
      file: (done: (file: File) => void) => {
        goOn = () => done(textFile('b.txt'));
      },
    };
    const batches = [
      [
        { name: 'a.txt', isFile: true, file: (done: (file: File) => void) => done(textFile('a.txt')) },
        empty,
        last,
      ],
      [],
    ];
    const folder = {
      isDirectory: true,
      name: 'folder',
      createReader: () => ({ readEntries: (done: (all: object[]) => void) => done(batches.shift() ?? []) }),
    };
    const data = {
      types: ['Files'],
      items: [{ kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => folder }],
    };
    const event = new DragEvent('drop', { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'dataTransfer', { value: data });
    host.dispatchEvent(event);
    await until(() => counts.includes(1));
    goOn();
    await until(() => page.files.length === 2);
    await new Promise(requestAnimationFrame);
    expect(drop.intake).to.deep.equal({
      dragging: false,
      readingCount: undefined,
      emptyFolderCount: 1,
    });
    drag('drop', 'host');
    await until(() => page.files.length === 3);
    expect(drop.intake.emptyFolderCount).to.equal(0);
    expect(counts.at(-1)).to.equal(undefined);
  });
});

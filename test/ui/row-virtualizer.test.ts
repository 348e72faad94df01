// Range of rendered rows in a long list, for lists, scrollers and rows of known sizes.

import { expect } from '@open-wc/testing';
import { RowVirtualizer, type VirtualizerHost } from '../../src/ui/row-virtualizer.ts';
import type { RowRange } from '../../src/ui/views/state.ts';

/** Height of a row in pixels that is assumed until rows are measured. */
const GUESS = 72;

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `f${index}`);
const frame = (): Promise<unknown> => new Promise(requestAnimationFrame);

class Host {
  readonly renderRoot = document.createElement('div');
  readonly scroller = document.createElement('div');
  readonly list = document.createElement('div');
  readonly updateComplete = Promise.resolve(true);
  requestCount = 0;
  readonly controllers: unknown[] = [];
  readonly rows: RowVirtualizer;
  #count = 0;

  constructor() {
    this.scroller.className = 'scroller';
    this.scroller.style.cssText = 'position: fixed; left: 0; inline-size: 200px; overflow: auto';
    this.list.className = 'list';
    this.list.style.cssText = 'margin: 0; padding: 0; list-style: none';
    this.scroller.append(this.list);
    this.renderRoot.append(this.scroller);
    document.body.append(this.renderRoot);
    this.rows = new RowVirtualizer(this as unknown as VirtualizerHost);
  }

  addController(controller: unknown): void {
    this.controllers.push(controller);
  }
  removeController(): void {}

  requestUpdate(): void {
    this.requestCount += 1;
    if (this.#count > 0) queueMicrotask(() => this.show(this.#count));
  }

  /** Renders a list of `count` rows of `height` pixels, now and each time the controller asks for it. */
  show(count: number, height = GUESS): void {
    this.#count = count;
    const { start, end, beforePx, afterPx } = this.rows.rangeOf(idsOf(count));
    const part = (className: string, blockSize: number, id = ''): HTMLElement => {
      const element = document.createElement('div');
      Object.assign(element, { className });
      Object.assign(element.style, { blockSize: `${blockSize}px`, overflowAnchor: 'none' });
      element.dataset.id = id;
      return element;
    };
    this.list.style.blockSize = 'auto';
    this.list.replaceChildren(
      ...(beforePx > 0 ? [part('spacer', beforePx)] : []),
      ...Array.from({ length: end - start }, (_, index) => part('row', height, `f${start + index}`)),
      ...(afterPx > 0 ? [part('spacer', afterPx)] : []),
    );
    this.rows.hostUpdated();
  }

  /** True if rows cover the visible part of `scroller`. */
  covers(scroller: Element = this.scroller): boolean {
    const { top, bottom } = scroller.getBoundingClientRect();
    const rows = [...this.list.querySelectorAll('.row')].map((row) => row.getBoundingClientRect());
    return (rows[0]?.top ?? 0) <= top && (rows.at(-1)?.bottom ?? 0) >= Math.min(bottom, innerHeight);
  }

  /** Sets position and height of the scroller, its scroll position, and the height of the list, all in pixels. */
  place(top: number, height: number, scrolled: number, listHeight = 100_000): void {
    this.scroller.style.top = `${top}px`;
    this.scroller.style.blockSize = `${height}px`;
    this.list.style.blockSize = `${listHeight}px`;
    this.scroller.scrollTop = scrolled;
  }

  /** Renders rows of these heights, and lets the controller measure them. */
  measure(heights: readonly number[]): void {
    const items = heights.map((height, index) => {
      const item = document.createElement('div');
      item.className = 'row';
      item.dataset.id = `f${index}`;
      item.style.blockSize = `${height}px`;
      return item;
    });
    this.list.replaceChildren(...items);
    this.rows.hostUpdated();
  }
}

let host: Host;

beforeEach(() => {
  host = new Host();
});
afterEach(() => {
  host.rows.hostDisconnected();
  host.renderRoot.remove();
});

const range = (start: number, end: number, beforePx: number, afterPx: number): RowRange => ({
  start,
  end,
  beforePx,
  afterPx,
});

/** Returns the range of a list of 1,000 rows that all have the assumed height. */
const guessed = (start: number, end: number): RowRange =>
  range(start, end, start * GUESS, (1000 - end) * GUESS);

describe('the rows that are rendered', () => {
  it('are those of the element that has the list', () => {
    expect(host.controllers).to.deep.equal([host.rows]);
  });

  it('are all rows of a list of up to 30', () => {
    host.place(0, 100, 0);
    expect(host.rows.rangeOf(idsOf(30))).to.deep.equal(range(0, 30, 0, 0));
    expect(host.rows.rangeOf([])).to.deep.equal(range(0, 0, 0, 0));
    expect(host.rows.rangeOf(idsOf(31)).end).to.be.lessThan(31);
  });

  it('are the first ones before the list is on the screen', () => {
    host.list.className = '';
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(0, 9));
    host.list.className = 'list';
    host.scroller.className = '';
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(0, 9));
  });

  it('are those in the scroller, and 600 pixels of rows before and after them', () => {
    host.place(100, 300, 5000);
    // First row: 5,000 - 600 = 4,400 px is in row 61, counted from 0. Last row: 5,300 + 600 = 5,900 px is in row 81.
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(61, 82));
  });

  it('end where a row ends at the edge', () => {
    // Row 4, counted from 0, ends at 960 - 600 = 360 px: left out. Row 26 starts at 960 + 312 + 600 = 1,872 px: included.
    host.place(100, 312, 960);
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(5, 27));
  });

  it('end at the edge of the window', () => {
    const { innerHeight } = globalThis;
    host.place(-959, innerHeight + 5000, 0);
    // The window starts at 959 px of the list. 959 - 600 = 359 px is in row 4, which ends at 360 px.
    const last = Math.floor((959 + innerHeight + 600) / GUESS) + 1;
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(4, last));
  });

  it('are those at the edge of the window if the scroller is above it', () => {
    host.place(-2000, 300, 0);
    // First row: 2,000 - 600 = 1,400 px is in row 19. Last row: 2,000 + 600 = 2,600 px is in row 36.
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(19, 37));
  });

  it('reach the end of the list without space after them', () => {
    host.place(0, 300, 7200 - 300, 7200);
    expect(host.rows.rangeOf(idsOf(100))).to.deep.equal(range(87, 100, 87 * GUESS, 0));
  });

  it('are the last ten if the list has become shorter than its scroll position', () => {
    host.place(0, 300, 50_000);
    expect(host.rows.rangeOf(idsOf(100))).to.deep.equal(range(90, 100, 90 * GUESS, 0));
  });

  it('use the measured heights, and their mean for rows that were not rendered', () => {
    host.place(0, 300, 0);
    host.rows.rangeOf(idsOf(1000));
    host.measure([100, 20, 30]);
    // Other rows have the mean height of 50 px, so rows end at 100, 120, 150, 200, … px. Row 18 starts at 300 + 600 = 900 px.
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(range(0, 19, 0, (1000 - 19) * 50));
    host.place(0, 300, 710);
    expect(host.rows.rangeOf(idsOf(1000)).beforePx).to.equal(100);
    host.place(0, 300, 730);
    expect(host.rows.rangeOf(idsOf(1000)).beforePx).to.equal(120);
  });

  it('keep the assumed height if no row was rendered', () => {
    host.place(0, 300, 0);
    host.rows.rangeOf(idsOf(1000));
    host.measure([]);
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(0, 13));
  });

  it('are measured only in a long list', () => {
    host.place(0, 300, 0);
    host.rows.rangeOf(idsOf(30));
    host.measure(Array.from({ length: 30 }, () => 20));
    expect(host.rows.rangeOf(idsOf(1000))).to.deep.equal(guessed(0, 13));
    host.rows.rangeOf(idsOf(61));
    host.measure(Array.from({ length: 61 }, () => 20));
    expect(host.rows.rangeOf(idsOf(1000)).end).to.equal(46);
  });

  it('drop heights of removed rows once there are twice as many as rows', () => {
    host.place(0, 300, 0);
    const startOfThird = (count: number): number => {
      host.rows.rangeOf(idsOf(61));
      host.measure(Array.from({ length: count }, (_, index) => (index === 0 ? 700 : 7)));
      host.place(0, 300, 650);
      return host.rows.rangeOf(idsOf(61)).beforePx;
    };
    expect(startOfThird(122)).to.equal(0);
    // The measured heights were dropped, so all rows have the mean height.
    expect(startOfThird(123)).to.be.greaterThan(0);
  });
});

describe('another rendering', () => {
  /** Resolves with the number of renderings that the controller asked for in the next frames. */
  const renderings = async (): Promise<number> => {
    const { requestCount } = host;
    for (let count = 0; count < 8; count++) await frame();
    return host.requestCount - requestCount;
  };
  const scrollTo = (top: number): Promise<number> => {
    host.scroller.scrollTop = top;
    return renderings();
  };

  beforeEach(() => {
    host.rows.hostConnected();
    host.place(0, 300, 0);
  });

  it('follows scrolling to other rows, and not to the same rows', async () => {
    host.show(1000);
    await renderings();
    expect(await scrollTo(10)).to.equal(0);
    for (const top of [7200, 50_000, 0]) {
      expect(await scrollTo(top)).to.be.within(1, 3);
      expect(host.covers(), `${top}`).to.equal(true);
      expect(await scrollTo(top + 10)).to.be.within(0, 1);
    }
  });

  it('follows many small steps', async () => {
    host.show(1000);
    for (let top = 0; top < 6000; top += 150) {
      host.scroller.scrollTop = top;
      await frame();
      await frame();
      expect(host.covers(), `${top}`).to.equal(true);
    }
  });

  it('follows a scroller in another shadow root, whose events are not seen here', async () => {
    const outer = document.body.appendChild(document.createElement('div'));
    const box = document.createElement('div');
    box.style.cssText =
      'position: fixed; inset: 0 auto auto 0; inline-size: 200px; block-size: 400px; overflow: auto';
    outer.attachShadow({ mode: 'closed' }).append(box);
    box.append(host.renderRoot);
    host.scroller.style.cssText = '';
    host.show(200);
    await renderings();
    for (const top of [2000, 5000, 13_000, 4000]) {
      box.scrollTop = top;
      await renderings();
      expect(host.covers(box), `${top}`).to.equal(true);
    }
    outer.remove();
  });

  it('follows a change of the layout', async () => {
    host.show(1000);
    await scrollTo(20_000);
    host.scroller.style.blockSize = `${innerHeight}px`;
    await renderings();
    expect(host.covers()).to.equal(true);
  });

  it('follows rows that shrink without a rendering', async () => {
    host.show(1000);
    await scrollTo(20_000);
    for (const row of host.list.querySelectorAll<HTMLElement>('.row')) row.style.blockSize = '10px';
    await renderings();
    expect(host.covers()).to.equal(true);
  });

  for (const [title, style] of [
    ['the list scrolls', undefined],
    ['the page scrolls', ''],
  ] as const)
    it(`looks at nothing while nothing changes and ${title}`, async () => {
      if (style !== undefined) host.scroller.style.cssText = style;
      host.show(1000);
      await renderings();
      const { observe } = IntersectionObserver.prototype;
      let lookCount = 0;
      IntersectionObserver.prototype.observe = function count(this: IntersectionObserver, target) {
        lookCount += 1;
        observe.call(this, target);
      };
      await renderings();
      IntersectionObserver.prototype.observe = observe;
      expect(lookCount).to.equal(0);
    });

  it('follows rows whose height differs from the assumed one', async () => {
    host.show(1000, 20);
    expect(host.requestCount).to.equal(0);
    expect(await renderings()).to.be.greaterThan(0);
  });

  it('does not happen in a short list', async () => {
    host.show(30);
    expect(await scrollTo(2000)).to.equal(0);
  });

  it('does not happen once the element is removed from the page, and happens again when it is added', async () => {
    host.show(1000);
    await renderings();
    host.rows.hostDisconnected();
    expect(await scrollTo(9000)).to.equal(0);
    host.rows.hostConnected();
    expect(await renderings()).to.be.greaterThan(0);
    expect(host.covers()).to.equal(true);
  });
});

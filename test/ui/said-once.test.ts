// One reason has one message, one percentage is read once, and what looks like a text is in line with the texts.

import { expect } from '@open-wc/testing';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import { showState, translate } from '../../demo/states/states.ts';
import type { AuthSnapshot, FileSnapshot } from '../../src/index.ts';
import arabic from '../../src/locales/ar.ts';
import german from '../../src/locales/de.ts';
import { show } from './show.ts';
import { all, button, one, textOf } from './support.ts';

const GB = 1_000_000_000;

describe('a percentage', () => {
  for (const [state, selector, percent] of [
    ['one', '.row', '58%'],
    ['uploading', '.totals', '20%'],
  ] as const)
    it(`is read once in ${selector}: as the value of the bar`, async () => {
      const element = await show(state);
      expect(one(element, `${selector} [role=progressbar]`).ariaValueText).to.equal(percent);
      const read = all(element, `${selector} .facts > span`).filter((fact) => fact.ariaHidden !== 'true');
      expect(read.map(({ textContent }) => textContent)).not.to.include(percent);
      expect(read).not.to.be.empty;
      expect(textOf(element), 'for the eye').to.include(percent);
    });

  for (const [title, more, expected] of [
    ['how much of a large file is hashed', { hashedBytes: 0.42 * GB }, '42%1 GB'],
    ['nothing while that is not known', { hashedBytes: 0 }, '1 GB'],
    ['nothing for a small file', { sizeBytes: 10e6, hashedBytes: 5e6 }, '10 MB'],
    [
      'not two percentages after a part was sent',
      { hashedBytes: 0.42 * GB, sentBytes: 0.2 * GB },
      '200 MB of 1 GB',
    ],
    ['nothing of what is hashed while it is sent', { phase: 'uploading', hashedBytes: 0.42 * GB }, '0%1 GB'],
  ] as const)
    it(`says ${title} while a file is prepared`, async () => {
      const element = await show([file('film.mp4', 'hashing', GB, 0, more as Partial<FileSnapshot>)]);
      expect(one(element, '.row .facts').textContent).to.equal(expected);
      const [first] = all(element, '.row .facts > span');
      const bar = one(element, '.row [role=progressbar]');
      expect(first?.ariaHidden === 'true', 'either the bar or the text').to.equal(
        first?.textContent?.includes('%') === true && bar.hasAttribute('aria-valuenow'),
      );
    });
});

describe('a sign-in that waits for its service', () => {
  const look = (count: number, auth: Partial<AuthSnapshot>) =>
    show(
      snapshot(
        Array.from({ length: count }, (_, index) =>
          file(`${index}.txt`, 'paused', 100, 0, { pauseReason: 'offline' }),
        ),
        { auth: { state: 'cooling', mode: 'popup', required: true, ...auth } },
      ),
    );
  const away = { code: 'network', retryable: true } as const;

  it('is the only reason why files wait', async () => {
    const element = await look(2, { error: away });
    expect(textOf(element)).to.include('Waiting to sign you in');
    expect(one(element, '.headline').textContent).to.equal('Waiting for sign-in');
    expect(all(element, '.row .phase').map(({ textContent }) => textContent)).to.deep.equal([
      'Waiting',
      'Waiting',
    ]);
    expect(textOf(element)).not.to.include('connection');
  });

  it('is the reason in the row of a single file', async () => {
    const element = await look(1, { error: away });
    expect(one(element, '.row .phase').textContent).to.equal('Waiting for sign-in');
  });

  for (const [title, auth] of [
    ['while the browser is offline', { error: { code: 'offline', retryable: true } }],
    ['if the page is asked for a token, so that nothing else says why', { mode: 'token', error: away }],
    ['after the sign-in', { state: 'signed-in', required: false }],
  ] as const)
    it(`leaves the connection as the reason ${title}`, async () => {
      const element = await look(1, auth as Partial<AuthSnapshot>);
      expect(one(element, '.row .phase').textContent).to.equal('Waiting for connection');
    });

  it('is canceled with a button that does not look like that of the files', async () => {
    const element = await look(2, { error: away });
    button(element, 'Cancel sign-in').click();
    expect(element.calls).to.deep.equal([['cancelSignIn']]);
  });
});

describe('in a narrow place', () => {
  const textBox = (element: Element): DOMRect => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  };

  for (const dir of ['ltr', 'rtl'])
    for (const zoom of [1, 2])
      it(`a button that is alone is below the text, in a page from ${dir} at ${zoom * 100} %`, async () => {
        const element = await show('sign-in-exchange', { width: 350, style: `font-size: ${16 * zoom}px` });
        element.dir = dir;
        const edge = dir === 'ltr' ? 'left' : 'right';
        const title = textBox(one(element, '.sign-in .title'));
        const label = textBox(button(element, 'Cancel sign-in'));
        expect(label.top).to.be.above(title.bottom - 1);
        expect(label[edge]).to.be.closeTo(title[edge], 1.5);
      });

  for (const width of [320, 390, 480])
    it(`an error ends where the icons end, at ${width} px`, async () => {
      const text = 'You don’t have permission to upload here. '.repeat(4);
      const element = await show('errors', { width });
      const row = one(element, '.row.failed');
      const problem = one(element, '.row.failed .problem');
      problem.style.wordBreak = 'break-all';
      problem.textContent = text;
      const icons = [...row.querySelectorAll('.actions svg')].filter((each) => each.checkVisibility());
      const icon = icons.at(-1) as Element;
      const { right } = icon.getBoundingClientRect();
      expect(textBox(problem).right).to.be.within(right - 14, right + 0.5);
    });
});

describe('the states page', () => {
  for (const [messages, text] of [
    [german, 'Upload abgebrochen'],
    [arabic, arabic.undoableCancel(1)],
  ] as const)
    it(`says in ${messages.locale} what was canceled`, async () => {
      const element = await show('empty');
      showState(element, 'undo');
      translate(element, messages);
      await element.show(element.snapshot);
      expect(one(element, '[part=totals-status]').textContent).to.equal(text);
    });
});

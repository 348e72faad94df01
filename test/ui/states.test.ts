// Renders a handwritten snapshot of each visible state. Checks controls and accessible names, and runs axe.

import { expect } from '@open-wc/testing';
import { file, STATES, snapshot } from '../../demo/states/snapshots.ts';
import { ENGLISH, ERROR_CODES, type Snapshot } from '../../src/index.ts';
import { show } from './show.ts';
import { all, button, one, shown, textOf } from './support.ts';

describe('every state of the widget', () => {
  it('has no axe violations in dark mode', async () => {
    document.documentElement.style.colorScheme = 'dark';
    document.documentElement.style.background = '#0e1014';
    try {
      await expect(await show('errors')).to.be.accessible();
      await expect(await show('sign-in-blocked')).to.be.accessible();
    } finally {
      document.documentElement.removeAttribute('style');
    }
  });

  it('shows the state of each file in words', async () => {
    const element = await show('phases');
    expect(all(element, '.phase').map((word) => word.textContent?.trim())).to.deep.equal([
      'Waiting',
      'Preparing…',
      'Uploading',
      "Retrying in 25 sec · We couldn't reach the server",
      'Finishing…',
      'Paused',
      'Waiting for connection',
      'Waiting for sign-in',
      'Server busy, retrying soon',
      'Uploading in another tab',
      'Resuming…',
      'Choose the file again to continue',
      '1 of 1 file done',
      'Done',
    ]);
  });

  it('shows size, speed and time left of a file, and the totals', async () => {
    const element = await show('uploading');
    const [, row] = all(element, '.row');
    expect(row?.textContent?.replace(/\s+/g, ' ')).to.contain(
      'Annual general meeting, recording.mp4 Uploading',
    );
    expect(row?.querySelector('.status')?.textContent).to.equal(
      'Uploading26%25 sec left478 MB of 1.8 GB8.2 MB/s',
    );
    expect(one(element, '.headline').textContent).to.equal('Uploading 4 files');
  });

  it('has a progress bar with name and value for each running file', async () => {
    const element = await show('one');
    const bar = one(element, '[role=progressbar]');
    expect(bar.getAttribute('aria-label')).to.equal('Progress of Quarterly report 2026.pdf');
    expect(bar.getAttribute('aria-valuenow')).to.equal('58');
  });

  it('never shows a full bar before the service confirmed the file', async () => {
    const element = await show(snapshot([file('all-sent.txt', 'committing', 1000, 1)]));
    expect(one(element, '[role=progressbar]').getAttribute('aria-valuenow')).to.equal('99');
  });

  it('shows names as text, without characters that change their direction', async () => {
    const element = await show('names');
    expect(element.renderRoot.querySelector('img')).to.equal(null);
    expect(textOf(element)).to.contain('<img src=x onerror=alert(1)>.png');
    expect(textOf(element)).to.contain('invoicefdp.exe');
  });

  it('has a sentence for every error', () => {
    for (const code of ERROR_CODES) expect(ENGLISH[code], code).to.match(/^[A-Z].+\.$/);
  });
});

describe('the sign-in panel', () => {
  it('offers sign-in, shows that it waits, and can be canceled', async () => {
    const element = await show('sign-in-prompt');
    button(element, 'Sign in').click();
    await element.show(STATES['sign-in-popup'] as Snapshot);
    expect(textOf(element)).to.contain('Continue in the sign-in window');
    button(element, 'Open again').click();
    button(element, 'Cancel sign-in').click();
    expect(element.calls).to.deep.equal([['signIn'], ['signIn'], ['cancelSignIn']]);
    await element.show(STATES['sign-in-blocked'] as Snapshot);
    expect(textOf(element)).to.contain('Your browser blocked the sign-in window.');
  });

  it('offers to open the window again when it was blocked, and to continue in this tab, but not if that would lose files', async () => {
    const { auth } = STATES['sign-in-blocked'] as Snapshot;
    const element = await show({ ...snapshot([file('a.txt', 'done', 10, 1)]), auth });
    expect(one(element, '[data-action=sign-in]').textContent?.trim()).to.equal('Try again');
    button(element, 'Continue in this tab').click();
    expect(element.calls).to.deep.equal([['signIn', 'redirect']]);
    await element.show({ ...snapshot([file('b.txt', 'paused', 10, 0)]), auth });
    expect(textOf(element)).not.to.contain('Continue in this tab');
  });

  it('takes the focus when the user comes back to the page and the window may be closed', async () => {
    const element = await show('sign-in-lost');
    window.dispatchEvent(new FocusEvent('focus'));
    expect(element.shadowRoot?.activeElement).to.equal(one(element, '[part~=sign-in]'));
  });

  it('does not cancel on the second click of a double click', async () => {
    const element = await show('sign-in-prompt');
    const { right } = button(element, 'Sign in').getBoundingClientRect();
    await element.show(STATES['sign-in-popup'] as Snapshot);
    expect(button(element, 'Cancel sign-in').getBoundingClientRect().right).to.be.lessThan(right - 40);
  });

  it('is hidden while the page is asked for a token by `getToken`', async () => {
    const auth = { state: 'asking-host', mode: 'token', required: true } as const;
    const element = await show(snapshot([file('a.txt', 'queued', 1)], { auth }));
    expect(element.renderRoot.querySelector('.sign-in')).to.equal(null);
  });
});

describe('the keyboard focus', () => {
  it('stays at the same position of the next row when a row is removed', async () => {
    const files = ['a', 'b', 'c'].map((name) => file(name, 'done', 1));
    const element = await show(snapshot(files));
    button(element, 'Remove from list: b').focus();
    await element.show(snapshot(files.filter(({ name }) => name !== 'b')));
    const focused = element.shadowRoot?.activeElement;
    expect(focused?.getAttribute('title')).to.equal('Remove from list: c');
    await element.show(snapshot(files.slice(0, 1)));
    expect(element.shadowRoot?.activeElement?.getAttribute('title')).to.equal('Remove from list: a');
    await element.show(snapshot([]));
    expect(element.shadowRoot?.activeElement?.textContent?.trim()).to.equal('Choose files');
  });

  it('stays on the button of a row while its meaning changes, and on the row when it is done', async () => {
    const element = await show(snapshot([file('a', 'uploading', 10, 0.5)]));
    button(element, 'Pause: a').focus();
    await element.show(snapshot([file('a', 'paused', 10, 0.5, { pauseReason: 'user' })]));
    expect(element.shadowRoot?.activeElement?.getAttribute('title')).to.equal('Resume: a');
    await element.show(snapshot([file('a', 'done', 10)]));
    expect(element.shadowRoot?.activeElement?.getAttribute('title')).to.equal('Remove from list: a');
  });

  it('is not moved when it is elsewhere', async () => {
    const files = [file('a', 'done', 1), file('b', 'done', 1)];
    const element = await show(snapshot(files));
    const other = document.createElement('button');
    document.body.append(other);
    other.focus();
    await element.show(snapshot(files.slice(1)));
    expect(document.activeElement).to.equal(other);
    other.remove();
  });
});

describe('a list of ten thousand files', () => {
  it('renders only the rows near the visible ones, and others as it is scrolled', async () => {
    const element = await show('ten-thousand');
    const scroller = one(element, '.scroller');
    await shown(() => all(element, '.row').length < 40);
    expect(textOf(element)).to.contain('scan-00000.tif');
    expect(scroller.scrollHeight).to.be.greaterThan(400_000);
    // Without pending renderings, only the scroll event can cause the next one.
    for (let count = 0; count < 5; count += 1) await new Promise(requestAnimationFrame);
    scroller.scrollTop = scroller.scrollHeight;
    await shown(() => textOf(element).includes('scan-09999.tif'));
    expect(all(element, '.row').length).to.be.lessThan(60);
    const last = all(element, '.row').at(-1);
    expect(last?.ariaRowIndex).to.equal('10000');
    expect(one(element, '[role=grid]').ariaRowCount).to.equal('10000');
  });

  it('follows the page if the page scrolls', async () => {
    const element = await show('ten-thousand');
    element.style.setProperty('--secure-uploader-list-height', 'none');
    window.scrollTo(0, 300_000);
    await shown(() => {
      const first = all(element, '.row')[0]?.getBoundingClientRect();
      const last = all(element, '.row').at(-1)?.getBoundingClientRect();
      return first && last && first.top < 0 && last.bottom > window.innerHeight;
    });
    expect(all(element, '.row').length).to.be.lessThan(80);
    window.scrollTo(0, 0);
  });

  it('still shows rows when most of them are removed at once', async () => {
    const element = await show('ten-thousand');
    const scroller = one(element, '.scroller');
    scroller.scrollTop = scroller.scrollHeight;
    await shown(() => textOf(element).includes('scan-09999.tif'));
    const { files } = STATES['ten-thousand'] as Snapshot;
    await element.show(snapshot(files.slice(0, 100)));
    // Browsers scroll to different positions after this change. In every browser, rows must fill the visible area.
    const { top, bottom } = scroller.getBoundingClientRect();
    await shown(() => {
      const rows = all(element, '.row').map((row) => row.getBoundingClientRect());
      return rows.some((row) => row.top <= top + 1) && rows.some((row) => row.bottom >= bottom - 1);
    });
    expect(all(element, '.row').length).to.be.lessThan(60);
  });
});

describe('a reason for which all files wait', () => {
  const reasonsOf = async (...reasons: ('offline' | 'user' | 'rate-limited')[]): Promise<string[]> => {
    const element = await show(
      reasons.map((pauseReason, at) => file(`${at}`, 'paused', 10, 0.5, { pauseReason })),
    );
    return [...element.renderRoot.querySelectorAll('.headline, .phase')].map(
      (each) => each.textContent ?? '',
    );
  };

  it('is shown once, in the headline, and rows only say that they wait', async () => {
    for (const [reason, text] of [
      ['offline', 'Waiting for connection'],
      ['rate-limited', 'Server busy, retrying soon'],
    ] as const)
      expect(await reasonsOf(reason, reason)).to.deep.equal(['Waiting', 'Waiting', text]);
  });

  it('is shown in the rows if the headline says that files can be started', async () => {
    const element = await show(
      snapshot([
        file('a', 'paused', 10, 0.5, { pauseReason: 'offline' }),
        file('b', 'paused', 10, 0.5, { pauseReason: 'offline' }),
        file('c', 'queued', 10),
      ]),
    );
    const words = (): string[] =>
      all(element, '.phase, .headline').map(({ textContent }) => textContent ?? '');
    const [offline, waiting] = ['Waiting for connection', 'Waiting'];
    expect(words()).to.deep.equal([waiting, waiting, waiting, offline]);
    element.rules = { ...element.rules, manual: true };
    await element.show(element.snapshot);
    expect(words()).to.deep.equal([offline, offline, waiting, '1 file ready to upload']);
  });

  it('is shown in the row of a single file, and in rows with different reasons', async () => {
    expect(await reasonsOf('offline')).to.deep.equal(['Waiting for connection']);
    expect(await reasonsOf('offline', 'user')).to.deep.equal([
      'Waiting for connection',
      'Paused',
      'Waiting for connection',
    ]);
  });
});

describe('a button with an icon', () => {
  it('has one text for its tooltip and its name, so that screen readers read it once', async () => {
    const element = await show('empty');
    for (const shown of Object.values(STATES)) {
      await element.show(shown as Snapshot);
      for (const button of element.renderRoot.querySelectorAll('.icon-button')) {
        expect(button.getAttribute('title')).to.be.a('string');
        expect(button.getAttribute('aria-label')).to.equal(null);
      }
    }
  });
});

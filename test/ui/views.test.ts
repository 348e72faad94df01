// Outline and accessibility of every state of the views. The outlines are stored in view-outlines.txt. Each run writes the current
// ones to test-results: after a check of each changed line, `cp test-results/view-outlines.txt test/ui` stores them.

import { expect } from '@open-wc/testing';
import { writeFile } from '@web/test-runner-commands';
import { file } from '../../demo/states/snapshots.ts';
import { sectionsOf } from '../core/state-tables.ts';
import { blocksOf, outlineOf } from './outline.ts';
import { show } from './show.ts';
import { all, one } from './support.ts';
import { pdf, VIEW_STATES } from './view-states.ts';

describe('a state of the views', () => {
  const current: string[] = [];
  let stored: ReturnType<typeof sectionsOf>;
  before(async () => {
    stored = sectionsOf(await (await fetch('/test/ui/view-outlines.txt')).text());
  });
  after(() => writeFile({ path: '../../test-results/view-outlines.txt', content: current.join('') }));

  for (const [title, state] of Object.entries(VIEW_STATES)) {
    // How many rows of a long list are rendered depends on the browser.
    if ((state.snapshot?.files.length ?? 0) < 100)
      it(`has the stored outline: ${title}`, async () => {
        const section = [title, ...blocksOf((await show(state)).renderRoot), ''];
        current.push(`# ${section.join('\n')}`);
        expect(section).to.deep.equal(stored[title]);
      });
    it(`has no axe violations: ${title}`, async () => {
      await expect(await show(state)).to.be.accessible();
    });
  }

  it('has an outline only if it exists', () => {
    expect(Object.keys(stored).filter((title) => title && !(title in VIEW_STATES))).to.deep.equal([]);
  });
});

describe('a row', () => {
  it('is the second one', async () => {
    const element = await show([pdf('done'), pdf('queued', 0, { id: 'b' })]);
    const [, second] = all(element, '.row');
    expect(second?.ariaRowIndex).to.equal('2');
    expect(one(element, '[role=grid]').ariaRowCount).to.equal('2');
  });

  it('has a name with characters that change its direction', async () => {
    const error = { code: 'name-taken', retryable: false } as const;
    const shown = file('a\u202efdp.exe', 'failed', 10, 0, {
      relativePath: 'x/\u202ey/a\u202efdp.exe',
      error,
    });
    const lines = outlineOf(one(await show([shown]), '[data-id^=id-]'));
    expect(lines).to.include('file-name title=x/y/afdp.exe afdp.exe');
    expect(lines).to.include('file-status Upload failed · 10 bytes · y');
    expect(lines).to.include('button rename-button Upload as afdp (2).exe');
  });
});

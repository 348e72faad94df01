// Exact content of each view in each state: parts, names, values, texts and icons. The states are written by hand.

import { expect } from '@open-wc/testing';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import { outlineOf } from './outline.ts';
import { REFUSED, ZONES } from './panel-cases.ts';
import { type Cases, pdf, ROWS, type RowLooks } from './row-cases.ts';
import { type Shown, show } from './show.ts';
import { SIGN_IN } from './sign-in-cases.ts';
import { all, one } from './support.ts';
import { TOTALS } from './totals-cases.ts';

/** Returns the lines of all parts inside the part `part`; empty if the part is missing. */
const linesOf = (element: WidgetFixture, part: string): string[] => {
  const [found] = all(element, `[part~="${part}"]`);
  return found ? outlineOf(found) : [];
};

const rowLines = (name: string, title: string, looks: RowLooks): (string | undefined)[] => {
  const { mark, bar, status, problem, more, actions } = looks;
  return [
    `file-icon ${mark ? `<${mark}>` : ''}PDF`,
    `file-name title=${title} ${name}`,
    bar && `progress label=Progress of ${name} ${bar}`,
    `file-status ${status}`,
    problem,
    more,
    ...actions.map((action) => {
      const [label, drawn] = action.split(' <');
      return `icon-button title=${label}: ${name} <${drawn}`;
    }),
  ].filter(Boolean);
};

describe('a row of a file that', () => {
  for (const [title, [shown, looks]] of Object.entries(ROWS))
    it(title, async () => {
      const element = await show({ snapshot: snapshot([shown]) });
      const row = one(element, `.row[data-id="${shown.id}"]`);
      expect(outlineOf(row)).to.deep.equal(rowLines('a.pdf', shown.relativePath, looks));
      expect(row.getAttribute('part')).to.equal(`file ${shown.phase}`);
    });

  it('is the second one', async () => {
    const element = await show({ snapshot: snapshot([pdf('done'), pdf('queued', 0, { id: 'b' })]) });
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
    const lines = outlineOf(one(await show({ snapshot: snapshot([shown]) }), '[data-id^=id-]'));
    expect(lines).to.include('file-name title=x/y/afdp.exe afdp.exe');
    expect(lines).to.include('file-status Upload failed · 10 bytes · y');
    expect(lines).to.include('button rename-button Upload as afdp (2).exe');
  });
});

const describeCases = <T>(title: string, cases: Cases<T>, lines: (shown: T) => Promise<string[]>): unknown =>
  describe(title, () => {
    for (const [name, [shown, expected]] of Object.entries(cases))
      it(name, async () => expect(await lines(shown)).to.deep.equal(expected));
  });

describeCases('the footer when', TOTALS, async ({ files, isManual = false }) => {
  const rows = files.map((each, index) => ({ ...each, id: String(index) }));
  return linesOf(await show({ snapshot: snapshot(rows), rules: { manual: isManual } }), 'totals');
});

describeCases('the drop zone', ZONES, async (shown) => {
  const element = await show(shown);
  const zone = one(element, '[part~="drop-zone"]');
  return [
    zone.getAttribute('part')?.trim() ?? '',
    ...outlineOf(zone),
    ...all(element, '[part=notice]').map((notice) => `notice ${notice.textContent}`),
  ];
});

/** Returns a function that resolves with the lines of a panel. The first line describes the panel itself. */
const panelLines = (part: string) => async (shown: Shown) => {
  const element = await show(shown);
  const [panel] = all(element, `[part~="${part}"]`);
  if (!panel) return [];
  const label = panel.getAttribute('aria-label');
  return [
    [panel.getAttribute('part'), label && `label=${label}`].filter(Boolean).join(' '),
    ...outlineOf(panel),
  ];
};

describeCases('the list of rejected files:', REFUSED, panelLines('rejections'));
describeCases('the sign-in panel:', SIGN_IN, panelLines('sign-in'));

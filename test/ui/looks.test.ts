// Classes, attributes and inputs of the rendered views, tested with handwritten snapshots.

import { expect } from '@open-wc/testing';
import { file, STATES, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { Snapshot } from '../../src/index.ts';
import { type Shown, show } from './show.ts';
import { all, one } from './support.ts';
import { failed, pdf } from './view-states.ts';

const rows = (...files: Parameters<typeof snapshot>[0]): Shown => ({ snapshot: snapshot(files) });
const signIn = (state: string): Shown => ({ snapshot: STATES[`sign-in-${state}`] as Snapshot });
const inList = (...phases: ('queued' | 'uploading' | 'done')[]): Shown =>
  rows(...phases.map((phase, index) => pdf(phase, 0, { id: `${index}` })));

/** Expected classes of the element that `selector` matches. */
const CLASSES: readonly (readonly [title: string, Shown, selector: string, classes: string])[] = [
  ['an empty drop zone', {}, '[part~=drop-zone]', 'zone'],
  ['a drop zone above files', rows(pdf('queued')), '[part~=drop-zone]', 'zone compact listed'],
  ['a drop zone under files', { intake: { dragging: true } }, '[part~=drop-zone]', 'zone dragging'],
  [
    'the bar of a large file that is being checked',
    rows(pdf('hashing', 0, { sizeBytes: 20e6 })),
    '[role=progressbar]',
    'bar checking',
  ],
  ['the bar of a small file that is being checked', rows(pdf('hashing')), '[role=progressbar]', 'bar'],
  ['the bar of a file that is being sent', rows(pdf('uploading')), '[role=progressbar]', 'bar'],
  ['a row that waits', rows(pdf('queued')), '.row', 'row queued'],
  ['an error of a file', rows(failed('network')), '.problem', 'problem error'],
  [
    'a warning of a file',
    rows(pdf('uploading', 0.5, { warning: 'store-full' })),
    '.problem',
    'problem warning',
  ],
  ['a prompt', signIn('prompt'), '[part~=sign-in]', 'panel sign-in'],
  ['the icon of a prompt', signIn('prompt'), '[part~=sign-in] .badge', 'badge'],
  ['the button of a prompt', signIn('prompt'), '[data-action=sign-in]', 'primary'],
  ['a window that is open', signIn('popup'), '[part~=sign-in]', 'panel sign-in'],
  ['the icon of a window that is open', signIn('popup'), '[part~=sign-in] .badge', 'badge busy'],
  ['the button of a window that is open', signIn('popup'), '[data-action=sign-in]', ''],
  ['a window that was blocked', signIn('blocked'), '[part~=sign-in]', 'panel sign-in danger'],
  [
    'the icon of an automatic step',
    { snapshot: snapshot([pdf('queued')], { auth: { state: 'exchange', required: true } }) },
    '[part~=sign-in] .badge',
    'badge busy',
  ],
  [
    'the start button',
    { ...inList('queued', 'queued'), rules: { manual: true } },
    '[data-action=start]',
    'primary',
  ],
  ['the button that pauses all', inList('queued', 'queued'), '[data-action=pause-all]', 'plain'],
  ['the button beside it', inList('queued', 'queued'), '[data-action=cancel-all]', 'plain'],
];

const classesOf = (element: Element): string => [...element.classList].join(' ');

describe('the classes of', () => {
  for (const [title, shown, selector, classes] of CLASSES)
    it(title, async () => {
      expect(classesOf(one(await show(shown), selector))).to.equal(classes);
    });
});

describe('the panel of sign-in', () => {
  for (const state of ['prompt', 'popup', 'blocked', 'lost'])
    it(`exposes its state to styles and to the keyboard: ${state}`, async () => {
      const shown = signIn(state);
      const panel = one(await show(shown), '[part~=sign-in]');
      expect(panel.dataset.state).to.equal(shown.snapshot?.auth.state);
    });

  it('is replaced by the form, except while a window is open', async () => {
    const more = { hasLogin: true };
    const element = await show({ ...signIn('prompt'), more });
    const panel = one(element, '[part~=sign-in]');
    expect([panel.getAttribute('part'), panel.dataset.state]).to.deep.equal(['sign-in login', 'prompt']);
    expect(all(element, 'slot[name=login]')).to.have.length(1);
    expect(all(await show({ ...signIn('popup'), more }), 'slot[name=login]')).to.have.length(0);
    expect(all(await show({ ...signIn('lost'), more }), 'slot[name=login]')).to.have.length(0);
  });
});

describe('the list of rejected files', () => {
  const refused = (count: number): Shown => {
    const rejections = Array.from({ length: count }, (_, index) => ({
      id: `r${index}`,
      name: `${index}.exe`,
      relativePath: `${index}.exe`,
      sizeBytes: 1,
      code: 'file-empty' as const,
    }));
    return { snapshot: snapshot([], { rejections }) };
  };

  it('shows three names of each reason, and the others on demand', async () => {
    expect(all(await show(refused(3)), '.refusals details')).to.have.length(0);
    const element = await show(refused(5));
    const visible = (): number => all(element, '.refused').filter((name) => name.checkVisibility()).length;
    expect(visible()).to.equal(3);
    const more = one(element, '.refusals summary');
    expect(more.textContent).to.equal('and 2 more');
    more.click();
    expect(visible()).to.equal(5);
  });

  it('names each reason once', async () => {
    const reject = (code: 'file-empty' | 'file-too-large', name: string) => ({
      ...{ id: name, name, relativePath: name, sizeBytes: 1, code },
    });
    const rejections = [reject('file-empty', 'a'), reject('file-too-large', 'b'), reject('file-empty', 'c')];
    const element = await show({ snapshot: snapshot([], { rejections }) });
    const groups = all(element, '.refusals li').map((item) => [
      one({ renderRoot: item }, 'p').textContent,
      ...[...item.querySelectorAll('.refused')].map(({ textContent }) => textContent),
    ]);
    expect(groups).to.deep.equal([
      ['Empty file. Choose another one.', 'a', 'c'],
      ['Too large. Choose a smaller file.', 'b'],
    ]);
  });

  it('shows a hundred at most, and a number for the others', async () => {
    const lines = async (count: number): Promise<[number, string | undefined]> => {
      const element = await show(refused(count));
      return [all(element, '.refused').length, all(element, '.refusals li').at(-1)?.textContent?.trim()];
    };
    expect((await lines(100))[0]).to.equal(100);
    expect(await lines(101)).to.deep.equal([100, 'and 1 more']);
    expect(await lines(130)).to.deep.equal([100, 'and 30 more']);
  });
});

describe('a partly rendered list', () => {
  const spacers = (element: WidgetFixture): string[] =>
    all(element, '.spacer').map(({ style }) => style.getPropertyValue('block-size'));
  const files = Array.from({ length: 5 }, (_, index) => file(`${index}`, 'done', 1));
  const ranged = (start: number, end: number, beforePx: number, afterPx: number): Promise<WidgetFixture> =>
    show({
      snapshot: snapshot(files),
      more: { rows: { start, end, beforePx, afterPx } },
    });

  it('has the rows of the range, each with its position in the whole list', async () => {
    const element = await ranged(1, 3, 70.4, 100.5);
    expect(all(element, '.row').map((row) => row.ariaRowIndex)).to.deep.equal(['2', '3']);
    expect(spacers(element)).to.deep.equal(['70px', '101px']);
  });

  it('has no empty item if no row is omitted', async () => {
    expect(spacers(await ranged(0, 5, 0, 0))).to.deep.equal([]);
    expect(spacers(await ranged(0, 4, 0, 1))).to.deep.equal(['1px']);
  });
});

describe('a click on the drop zone', () => {
  it('opens the picker, once if it is on the button, and not while disabled', async () => {
    const element = await show({});
    one(element, '.invitation').click();
    expect(element.calls).to.deep.equal([['browse', 'files']]);
    one(element, '[data-action=browse]').click();
    one(element, '[data-action=folder]').click();
    expect(element.calls.slice(1)).to.deep.equal([
      ['browse', 'files'],
      ['browse', 'folder'],
    ]);
    const disabled = await show({ rules: { disabled: true } });
    one(disabled, '.invitation').click();
    expect(disabled.calls).to.deep.equal([]);
    expect(all<HTMLButtonElement>(disabled, '.zone button').map(({ disabled: is }) => is)).to.deep.equal([
      true,
      true,
    ]);
  });
});

describe('the inputs for files', () => {
  it('follow the rules, and pass on picked files', async () => {
    const element = await show({ rules: { accept: '.pdf', multiple: false } });
    const input = one<HTMLInputElement>(element, '#files');
    const folder = one<HTMLInputElement>(element, '#folder');
    expect([input.accept, input.multiple, folder.multiple, folder.webkitdirectory]).to.deep.equal([
      '.pdf',
      false,
      true,
      true,
    ]);
    const data = new DataTransfer();
    data.items.add(new File(['1'], '1.txt'));
    input.files = data.files;
    input.dispatchEvent(new Event('change'));
    expect(element.calls.map(([name, picked]) => [name, (picked as File[]).length])).to.deep.equal([
      ['addInput', 1],
    ]);
    expect(input.files).to.have.length(0);
  });
});

describe('a widget with invalid settings', () => {
  it('shows the error, and none otherwise', async () => {
    expect(all(await show({}), '[role=alert].fault')).to.have.length(0);
    expect(all(await show({ more: { isMisconfigured: true } }), '[role=alert].fault')).to.have.length(1);
  });

  it('does not ask for files, like a disabled one, which says so', async () => {
    for (const [shown, titles] of [
      [{ more: { isMisconfigured: true } }, []],
      [{ rules: { disabled: true } }, ['Uploads are turned off']],
    ] as const) {
      const element = await show(shown);
      expect(all(element, '.zone .title').map((title) => title.textContent)).to.deep.equal(titles);
      expect(all<HTMLButtonElement>(element, '.zone button').every(({ disabled }) => disabled)).to.equal(
        true,
      );
      one(element, '.zone').click();
      expect(element.calls).to.deep.equal([]);
    }
  });
});

describe('a widget over which files are dragged', () => {
  it('is highlighted as a whole, with an empty and with a full list', async () => {
    for (const shown of [{}, rows(pdf('done'))]) {
      const still = getComputedStyle(one(await show(shown), '.base'));
      expect(still.outlineStyle).to.equal('none');
      const dragged = getComputedStyle(one(await show({ ...shown, intake: { dragging: true } }), '.base'));
      expect([dragged.outlineStyle, dragged.outlineWidth]).to.deep.equal(['solid', '2px']);
    }
  });
});

describe('the dots between facts', () => {
  it('are not read to users', async () => {
    const dot = one(await show(rows(pdf('done'))), '.row .facts > span');
    expect(getComputedStyle(dot, '::before').content).to.equal('"·" / ""');
  });
});

describe('colors', () => {
  for (const [title, shown, selector, color] of [
    ['a warning', rows(pdf('uploading', 0.5, { warning: 'store-full' })), '.problem', 'warning'],
    [
      'the headline of failed files',
      rows(failed('network'), pdf('done', 1, { id: 'b' })),
      '.headline',
      'danger',
    ],
    ['the headline of uploaded files', inList('done', 'done'), '.headline', 'success'],
    ['the headline of other files', inList('done', 'uploading'), '.headline', 'text'],
  ] as const)
    it(`of ${title} is the one of the theme`, async () => {
      const element = await show(shown);
      const probe = document.createElement('span');
      probe.style.color = `var(--_${color})`;
      one(element, '.base').append(probe);
      expect(getComputedStyle(one(element, selector)).color).to.equal(getComputedStyle(probe).color);
    });
});

describe('the columns', () => {
  it('of the panel, of the rows and of the footer are in line', async () => {
    const element = await show('errors');
    const edges = (selector: string, edge: 'left' | 'right'): number[] => [
      ...new Set(
        all(element, selector)
          .filter((each) => each.checkVisibility())
          .map((each) => Math.round(each.getBoundingClientRect()[edge])),
      ),
    ];
    expect(edges('[data-action=end], [data-action=dismiss], [data-action=more]', 'right')).to.have.length(1);
    expect(edges('.badge, .headline, .totals .bar', 'left')).to.have.length(1);
    expect(edges('.row .name, .panel .title, .zone .title', 'left')).to.have.length(1);
  });
});

// Folders in the list: one row for each with sums and buttons, folded above ten files.

import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse } from '@web/test-runner-commands';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { FileSnapshot, Phase, SecureUploader } from '../../src/index.ts';
import { freshFile } from '../support/bytes.ts';
import { skipTime } from '../support/clock.ts';
import { reaches, type World, world } from '../support/world.ts';
import { click } from './accessible.ts';
import { outlineOf } from './outline.ts';
import { show } from './show.ts';
import { all, button, one, shown, textOf } from './support.ts';

const MB = 1_000_000;

/** Files `1.tif`, `2.tif`, … in the folder `scans`, with the given phases, and queued ones up to `count`. */
const scans = (count: number, ...phases: Phase[]): FileSnapshot[] =>
  Array.from({ length: count }, (_, index) => {
    const phase = phases[index] ?? 'queued';
    const reason =
      phase === 'failed'
        ? { error: { code: 'network', retryable: true } as const }
        : phase === 'paused'
          ? { pauseReason: 'needs-file' as const }
          : {};
    const share = phase === 'uploading' ? 0.5 : 0;
    return file(`${index + 1}.tif`, phase, 2 * MB, share, {
      relativePath: `scans/${index + 1}.tif`,
      ...reason,
    });
  });

const names = (element: WidgetFixture): string[] =>
  all(element, '.row').map(({ dataset }) => dataset.id?.replace(/^id-|\.tif$/g, '') ?? '');

const focusedId = ({ renderRoot }: WidgetFixture | SecureUploader): string | undefined =>
  renderRoot.querySelector<HTMLElement>(':focus')?.dataset.id;

const folder = (element: WidgetFixture): string[] => outlineOf(one(element, '[part~=folder]'));

describe('the row of a folder', () => {
  it('has the number, the sizes and the progress of its files', async () => {
    const element = await show(scans(12, 'done', 'done', 'uploading'));
    expect(folder(element)).to.deep.equal([
      'file-icon <folder>',
      'file-name title=scans scans',
      'progress label=Progress of scans valuenow=20 valuetext=20% sent 20.8%',
      'file-status 2 of 12 files done · 20% · 5 MB of 24 MB',
      'icon-button title=Files: scans <fold>',
      'icon-button title=More actions: scans <more>',
      'menu',
      'icon-button title=Cancel: scans <close>',
    ]);
    const row = one(element, '[part~=folder]');
    expect([row.role, row.ariaRowIndex, row.getAttribute('part')]).to.deep.equal([
      'row',
      '1',
      'file uploading folder',
    ]);
  });

  for (const [title, files, status, buttons] of [
    ['waits', scans(11), '0 of 11 files done · 22 MB', ['fold', 'end']],
    ['is done', scans(11, ...Array<Phase>(11).fill('done')), '11 of 11 files done · 22 MB', ['fold']],
    ['is canceled', scans(11, ...Array<Phase>(11).fill('canceled')), '0 of 11 files done · 0 kB', ['fold']],
    [
      'is done in part, and canceled',
      scans(11, 'done', ...Array<Phase>(10).fill('canceled')),
      '1 of 11 files done · 2 MB',
      ['fold'],
    ],
    [
      'has failed files',
      scans(11, 'failed', 'failed'),
      '0 of 11 files done · 2 files failed · 22 MB',
      ['fold', 'end'],
    ],
    [
      'needs its files again, which are in one folder',
      scans(11, 'done', 'paused', 'paused'),
      'Choose 2 files again · 9% · 2 MB of 22 MB',
      ['choose', 'fold', 'end'],
    ],
  ] as const)
    it(`says what is next while it ${title}`, async () => {
      const element = await show(files);
      expect(folder(element).find((line) => line.startsWith('file-status'))).to.equal(
        `file-status ${status}`,
      );
      const visible = all(element, '[part~=folder] button').filter((each) => each.checkVisibility());
      expect(visible.map(({ dataset }) => dataset.action)).to.deep.equal(buttons);
    });

  it('chooses the folder again', async () => {
    const element = await show(scans(11, 'paused'));
    button(element, 'Choose a folder: scans').click();
    expect(element.calls.filter(([name]) => name !== 'holdUndo')).to.deep.equal([['chooseFolder', 'scans/']]);
  });

  it('has a name without characters that change its direction', async () => {
    const element = await show([file('a.txt', 'queued', 1, 0, { relativePath: 'gpj\u202e.exe/a.txt' })]);
    expect(folder(element)).to.include('file-name title=gpj.exe gpj.exe');
  });
});

const marked = async (...phases: Phase[]): Promise<string | undefined> =>
  folder(await show(scans(phases.length, ...phases)))[0];

describe('the mark of a folder', () => {
  it('is that of a finished file only if all its files are uploaded', async () => {
    expect(await marked('done', 'done')).to.equal('file-icon <folder><done>');
    for (const other of ['canceled', 'queued', 'uploading'] as const)
      expect(await marked('done', other)).to.equal('file-icon <folder>');
  });

  it('is that of a failed file while no other file is uploading', async () => {
    for (const other of ['done', 'canceled', 'queued', 'failed'] as const)
      expect(await marked('failed', other)).to.equal('file-icon <folder><alert>');
    expect(await marked('failed', 'uploading')).to.equal('file-icon <folder>');
  });
});

describe('a folder', () => {
  afterEach(() => resetMouse());

  it('with ten files shows them below its row, with their path in the folder', async () => {
    const files = [...scans(9), file('b.txt', 'done', 1, 1, { relativePath: 'scans/2026/may/b.txt' })];
    const element = await show([
      file('a', 'queued', 1),
      ...files.slice(0, 5),
      file('z', 'queued', 1),
      ...files.slice(5),
    ]);
    expect(names(element)).to.deep.equal([
      'a',
      'scans/',
      ...Array.from({ length: 9 }, (_, index) => `${index + 1}`),
      'b.txt',
      'z',
    ]);
    expect(one(element, '[data-action=fold]').ariaExpanded).to.equal('true');
    expect(outlineOf(one(element, '[data-id="id-b.txt"]'))).to.include.members([
      'file-name title=scans/2026/may/b.txt b.txt',
      'file-status Done · 1 byte · 2026/may',
    ]);
    expect(one(element, '[role=grid]').ariaRowCount).to.equal('13');
  });

  it('with eleven files is folded until its button is pressed', async () => {
    const element = await show([file('a', 'queued', 1), ...scans(11, 'done', 'uploading')]);
    expect(names(element)).to.deep.equal(['a', 'scans/']);
    const fold = button(element, 'Files: scans');
    expect(fold.ariaExpanded).to.equal('false');
    await click(fold);
    expect(fold.ariaExpanded).to.equal('true');
    expect(names(element)).to.have.length(13);
    expect(names(element).slice(0, 4)).to.deep.equal(['a', 'scans/', '2', '3']);
    expect(element.shadowRoot?.activeElement).to.equal(fold);
    await sendKeys({ press: 'Enter' });
    await element.updateComplete;
    expect(names(element)).to.deep.equal(['a', 'scans/']);
  });

  it('stays folded or unfolded as its user chose', async () => {
    const element = await show(scans(11));
    await click(button(element, 'Files: scans'));
    await element.show(snapshot(scans(200)));
    expect(names(element).length).to.be.greaterThan(11);
    await element.show(snapshot(scans(3)));
    await click(button(element, 'Files: scans'));
    expect(names(element)).to.deep.equal(['scans/']);
  });

  it('stays folded when one of eleven files is removed', async () => {
    const element = await show(scans(11));
    await element.show(snapshot(scans(10)));
    expect(names(element)).to.deep.equal(['scans/']);
  });

  it('shows its failed files at the top although it is folded', async () => {
    const element = await show([file('a', 'queued', 1), ...scans(11, 'done', 'failed')]);
    expect(names(element)).to.deep.equal(['scans/', '2', 'a']);
    expect(one(element, '[part~=folder]').classList.contains('failed')).to.equal(true);
  });

  it('moves no row under the mouse when a file fails', async () => {
    const element = await show([...scans(11), file('z', 'queued', 1)]);
    const { left, top } = one(element, '[data-id=id-z]').getBoundingClientRect();
    await sendMouse({ type: 'move', position: [Math.round(left + 30), Math.round(top + 10)] });
    await shown(() => one(element, '[data-id=id-z]').matches(':hover'));
    await element.show(snapshot([...scans(11, 'failed'), file('z', 'queued', 1)]));
    expect(names(element)).to.deep.equal(['scans/', 'z']);
    await sendMouse({ type: 'move', position: [0, 0] });
    await shown(() => names(element).join() === 'scans/,1,z');
  });

  it('goes to the end when all its files have ended', async () => {
    const element = await show([...scans(11, ...Array<Phase>(11).fill('done')), file('a', 'queued', 1)]);
    expect(names(element)).to.deep.equal(['a', 'scans/']);
  });

  it('is reached by the arrow keys, as are its buttons', async () => {
    const element = await show([file('a', 'queued', 1), ...scans(11)]);
    one(element, '[data-id=id-a]').focus();
    await sendKeys({ press: 'ArrowDown' });
    expect(element.shadowRoot?.activeElement).to.equal(one(element, '[part~=folder]'));
    await sendKeys({ press: 'ArrowRight' });
    expect(element.shadowRoot?.activeElement).to.equal(button(element, 'Files: scans'));
    await sendKeys({ press: 'Enter' });
    await element.updateComplete;
    await sendKeys({ press: 'ArrowDown' });
    expect(focusedId(element)).to.equal('id-1.tif');
  });

  it('of two folders with one name is one, and other folders have rows of their own', async () => {
    const inside = (path: string): FileSnapshot =>
      file(path, 'queued', 1, 0, { relativePath: path, id: path.replaceAll('/', '-') });
    const element = await show([
      inside('a/x/1'),
      inside('b/x/1'),
      inside('a/2'),
      inside('/a/1'),
      inside('/3'),
    ]);
    expect(names(element)).to.deep.equal(['a/', 'a-x-1', 'a-2', 'b/', 'b-x-1', '/a/', '-a-1', '-3']);
    expect(all(element, '.inside').map(({ dataset }) => dataset.id)).to.deep.equal([
      'a-x-1',
      'a-2',
      'b-x-1',
      '-a-1',
    ]);
    expect(one(element, '[data-id=a-x-1] .facts').textContent).to.include('x').and.not.include('a/x');
    expect(one(element, '[data-id="-a-1"] .facts').textContent).not.to.include('a');
  });
});

describe('canceling a folder', () => {
  async function open(): Promise<World<true>> {
    const stage = await world({ element: true, answers: ['open', 'presign', 'cancel'], concurrency: 6 });
    await stage.element.addFiles([
      freshFile(900, 'a.txt'),
      ...['b.txt', 'c.txt'].map((name) => ({ file: freshFile(900, name), relativePath: `scans/${name}` })),
      { file: freshFile(900, 'd.txt'), relativePath: 'scans 2/d.txt' },
    ]);
    await reaches(stage, ['a.txt uploading', 'b.txt uploading', 'c.txt uploading', 'd.txt uploading']);
    return stage;
  }

  const canceled = ['a.txt uploading', 'b.txt paused user', 'c.txt paused user', 'd.txt uploading'];

  for (const [title, act] of [
    ['its button', async ({ element }: World<true>) => button(element, 'Cancel: scans').click()],
    [
      'Delete',
      async ({ element }: World<true>) => {
        one(element, '[data-id="scans/"]').focus();
        await sendKeys({ press: 'Delete' });
      },
    ],
  ] as const)
    it(`by ${title} cancels its files and no others, and can be undone`, async () => {
      const stage = await open();
      await act(stage);
      await reaches(stage, canceled);
      expect(textOf(stage.element)).to.include('2 uploads canceled');
      expect(all(stage.element, '[data-id="scans/"] [data-action=end]')).to.have.length(0);
      button(stage.element, 'Undo').click();
      await reaches(stage, ['a.txt uploading', 'b.txt uploading', 'c.txt uploading', 'd.txt uploading']);
    });

  it('leaves the focus in its row', async () => {
    const stage = await open();
    button(stage.element, 'Cancel: scans').focus();
    await sendKeys({ press: 'Enter' });
    await reaches(stage, canceled);
    expect(focusedId(stage.element)).to.equal('scans/');
  });

  it('again, by Delete, leaves the first one to be undone', async () => {
    const stage = await open();
    const restore = skipTime(1000);
    button(stage.element, 'Cancel: scans').click();
    await reaches(stage, canceled);
    restore();
    const again = skipTime(2000);
    one(stage.element, '[data-id="scans/"]').focus();
    await sendKeys({ press: 'Delete' });
    again();
    button(stage.element, 'Undo').click();
    await reaches(stage, ['a.txt uploading', 'b.txt uploading', 'c.txt uploading', 'd.txt uploading']);
  });

  it('of failed files is possible, too', async () => {
    const stage = await world({ element: true });
    await stage.element.addFiles({ file: freshFile(900, 'a.txt'), relativePath: 'scans/a.txt' });
    (await stage.service.nextRequest('open')).refuse(new UploaderError('bad-config', 'a.txt'));
    await reaches(stage, ['a.txt failed']);
    button(stage.element, 'Cancel: scans').click();
    await stage.element.updateComplete;
    expect(textOf(stage.element)).to.include('Upload canceled: a.txt');
  });

  it('is not where the focus goes when its last file is removed, because its row leaves, too', async () => {
    const stage = await open();
    stage.service.answerAll();
    await reaches(stage, ['a.txt done', 'b.txt done', 'c.txt done', 'd.txt done']);
    const idOf = (name: string): string | undefined =>
      stage.element.snapshot.files.find((file) => file.name === name)?.id;
    one(stage.element, `[data-id="${idOf('d.txt')}"]`).focus();
    await sendKeys({ press: 'Delete' });
    await stage.element.updateComplete;
    expect(all(stage.element, '[data-id="scans 2/"]')).to.have.length(0);
    expect(focusedId(stage.element)).to.equal(idOf('c.txt'));
  });

  it('does nothing if all its files are done', async () => {
    const stage = await open();
    stage.service.answerAll();
    await reaches(stage, ['a.txt done', 'b.txt done', 'c.txt done', 'd.txt done']);
    one(stage.element, '[data-id="scans/"]').focus();
    await sendKeys({ press: 'Delete' });
    await reaches(stage, ['a.txt done', 'b.txt done', 'c.txt done', 'd.txt done']);
    expect(textOf(stage.element)).not.to.include('canceled');
  });
});

// Pause and resume by button, with the reference service: what is announced to screen readers, and `uploads-finished`.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { addFault, uniqueName } from '../service/reference.ts';
import { world } from '../support/world.ts';
import { button, nextEvent, one, shown, textFile } from './support.ts';

interface Page {
  readonly element: SecureUploader;
  readonly names: readonly string[];
  /** Announcements to screen readers, oldest first. */
  readonly announced: string[];
  /** Details of `uploads-finished`. */
  readonly finished: object[];
}

/** Uploads files. The first one is done; the service does not respond to the first commit of the others. */
async function uploading(count: number): Promise<Page> {
  const { element } = await world({ element: true, service: 'reference' });
  const announced: string[] = [];
  const finished: object[] = [];
  await shown(() => element.renderRoot.querySelector('[role=status]'));
  new MutationObserver(() => {
    const text = one(element, '[role=status]').textContent ?? '';
    if (text !== '' && text !== announced.at(-1)) announced.push(text);
  }).observe(one(element, '[role=status]'), { childList: true, characterData: true, subtree: true });
  element.addEventListener('uploads-finished', ({ detail }) => finished.push(detail));
  const names = Array.from({ length: count }, () => uniqueName());
  for (const fileName of names.slice(1))
    await addFault({ operation: 'commit', match: { fileName }, delayMs: 60_000 });
  await element.addFiles(names.map((name) => textFile(name)));
  await shown(() =>
    element.snapshot.files.every(({ phase }, at) => phase === (at === 0 ? 'done' : 'committing')),
  );
  await shown(() => announced.length > 0);
  announced.length = 0;
  return { element, names, announced, finished };
}

/** Waits until `text` is announced. Takes all announcements up to it from `announced`, and returns them. */
async function hear(announced: string[], text: string): Promise<string[]> {
  await shown(() => announced.includes(text));
  return announced.splice(0, announced.indexOf(text) + 1);
}

describe('a pause by the user', () => {
  it('of all files is announced as one, and not as the end', async () => {
    const { element, announced, finished } = await uploading(4);
    button(element, 'Pause all').click();
    await shown(() => announced.length > 0);
    expect(announced).to.deep.equal(['Paused: 3 files']);
    expect(finished).to.deep.equal([]);
    const ended = nextEvent(element, 'uploads-finished');
    button(element, 'Resume all').click();
    expect((await ended).detail).to.include({ doneCount: 4, waitingCount: 0 });
    expect(finished).to.have.length(1);
  });

  it('of one file after the other is announced with its name, as is each resume', async () => {
    const { element, names, announced, finished } = await uploading(3);
    const press = async (action: string, at: number, text: string): Promise<void> => {
      button(element, `${action}: ${names[at]}`).click();
      expect(await hear(announced, text)).to.deep.equal([text]);
    };
    await press('Pause', 1, `Paused: ${names[1]}`);
    await press('Pause', 2, `Paused: ${names[2]}`);
    expect(finished).to.deep.equal([]);
    const first = nextEvent(element, 'uploads-finished');
    button(element, `Resume: ${names[1]}`).click();
    expect((await first).detail).to.include({ doneCount: 2, waitingCount: 1 });
    const second = nextEvent(element, 'uploads-finished');
    button(element, `Resume: ${names[2]}`).click();
    expect((await second).detail).to.include({ doneCount: 3, waitingCount: 0 });
  });

  it('before any file is done is announced, as is the resume', async () => {
    const { element, announced } = await uploading(3);
    await element.clear();
    button(element, 'Pause all').click();
    await hear(announced, 'Paused: 2 files');
    for (const { name } of element.snapshot.files)
      await addFault({ operation: 'commit', match: { fileName: name }, delayMs: 60_000 });
    button(element, 'Resume all').click();
    await hear(announced, 'Resuming 2 files');
  });

  it('of a file, and the resume of another, are announced without the files that stay paused', async () => {
    const { element, names, announced } = await uploading(3);
    button(element, 'Pause all').click();
    await hear(announced, 'Paused: 2 files');
    await addFault({ operation: 'commit', match: { fileName: names[1] ?? '' }, delayMs: 60_000 });
    button(element, `Resume: ${names[1]}`).click();
    await hear(announced, `Resuming: ${names[1]}`);
  });

  it('is not what a cancel announces, although it can be undone', async () => {
    const { element, names, announced } = await uploading(4);
    await element.pause(element.snapshot.files[1]?.id);
    expect(await hear(announced, `Paused: ${names[1]}`)).to.have.length(1);
    button(element, `Cancel: ${names[2]}`).click();
    await shown(() => announced.length > 0);
    expect(announced.splice(0).join()).to.match(/^Upload canceled: [^,]+$/);
    await element.pause();
    expect(await hear(announced, `Paused: ${names[3]}`)).to.have.length(1);
    expect(announced).to.deep.equal([]);
  });
});

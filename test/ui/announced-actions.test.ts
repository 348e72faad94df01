// What is announced of sign-in, and of what the user does with files.

import { expect } from '@open-wc/testing';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { Change } from '../../src/core/changes.ts';
import type { SecureUploader } from '../../src/define.ts';
import type { AuthState, FileSnapshot, Phase } from '../../src/index.ts';
import { ENGLISH } from '../../src/locales/en.ts';
import { addFault, uniqueName } from '../service/reference.ts';
import { stopClock } from '../support/clock.ts';
import { world } from '../support/world.ts';
import { nameOf } from './accessible.ts';
import { change, listen, started } from './listening.ts';
import { all, button, one, shown, textFile } from './support.ts';

describe('announcements of actions', () => {
  const signIn = (state: AuthState, previous: AuthState): Change =>
    change('auth-changed', { state, previous });

  it('report no start before the sign-in, but the sign-in, and then the start', async () => {
    const names = ['a', 'b'];
    const files = (phase: Phase): readonly FileSnapshot[] => names.map((name) => file(name, phase, 100));
    const { announcer, host, said } = listen(
      snapshot(files('hashing'), { auth: { state: 'prompt', required: true } }),
    );
    const progress = (phase: Phase): void =>
      announcer.onChange(change('upload-progress', { id: 'a', phase }));
    const clock = stopClock();
    for (const name of names) announcer.onChange(started(name));
    announcer.onChange(signIn('prompt', 'silent'));
    progress('hashing');
    await clock.pass(60);
    expect(said).to.deep.equal(['Sign in to upload']);
    for (const [state, previous] of [
      ['popup', 'prompt'],
      ['exchange', 'popup'],
      ['signed-in', 'exchange'],
    ] as const)
      announcer.onChange(signIn(state, previous));
    expect(said.at(-1)).to.equal("You're signed in.");
    host.snapshot = snapshot(files('uploading'));
    progress('uploading');
    progress('uploading');
    expect(said.slice(2)).to.deep.equal(['Uploading 2 files']);
    await clock.pass(20);
    expect(said[3]).to.match(/^0% uploaded/);
    announcer.stop();
    clock.restore();
  });

  for (const [title, states, expected] of [
    ['without the user', ['silent', 'exchange', 'signed-in'], []],
    ['after a token of the page', ['asking-host', 'signed-in'], []],
    ['with the form', ['login', 'answer', 'verify', 'signed-in'], ["You're signed in."]],
    ['in a window that may be closed', ['popup', 'popup-lost', 'signed-in'], ["You're signed in."]],
    ['once for two', ['popup', 'signed-in', 'silent', 'signed-in'], ["You're signed in."]],
    ['that was canceled', ['popup', 'signed-out', 'silent', 'signed-in'], []],
  ] as const)
    it(`report a sign-in ${title}: ${expected.length}`, () => {
      const { announcer, said } = listen(snapshot([], { auth: { state: 'silent', required: false } }));
      for (const [index, state] of states.entries())
        announcer.onChange(signIn(state, states[index - 1] ?? 'signed-out'));
      expect(said).to.deep.equal(expected);
    });

  const held = (name: string): FileSnapshot => file(name, 'paused', 100, 0.5, { pauseReason: 'user' });
  const failedFile = (name: string): FileSnapshot => file(name, 'failed', 100);
  const unfound = (name: string): FileSnapshot =>
    file(name, 'paused', 100, 0.5, { pauseReason: 'needs-file' });
  const waiting = (name: string): FileSnapshot => file(name, 'queued', 100);
  for (const [deed, before, after, text] of [
    ['paused', [waiting('a.txt'), waiting('b.txt')], [held('a.txt'), waiting('b.txt')], 'Paused: a.txt'],
    ['paused', [held('a.txt'), waiting('b.txt')], [held('a.txt'), held('b.txt')], 'Paused: b.txt'],
    ['paused', [waiting('a.txt'), waiting('b.txt')], [held('a.txt'), held('b.txt')], 'Paused: 2 files'],
    ['paused', [failedFile('a.txt')], [failedFile('a.txt')], undefined],
    ['resumed', [held('a.txt'), held('b.txt')], [waiting('a.txt'), held('b.txt')], 'Resuming: a.txt'],
    ['resumed', [held('a.txt'), held('b.txt')], [waiting('a.txt'), waiting('b.txt')], 'Resuming 2 files'],
    ['resumed', [unfound('a.txt'), held('b.txt')], [waiting('a.txt'), held('b.txt')], 'Resuming: a.txt'],
    ['resumed', [unfound('a.txt')], [failedFile('a.txt')], undefined],
    ['resumed', [held('a.txt')], [unfound('a.txt')], undefined],
    [
      'retried',
      [failedFile('a.txt'), failedFile('b.txt')],
      [waiting('a.txt'), failedFile('b.txt')],
      'Retrying: a.txt',
    ],
    [
      'retried',
      ['a', 'b', 'c'].map(failedFile),
      [waiting('a'), waiting('b'), file('c', 'canceled', 100)],
      'Retrying 2 files',
    ],
    ['retried', [file('\u202ea.txt', 'canceled', 100)], [waiting('\u202ea.txt')], 'Retrying: a.txt'],
    ['retried', [], [waiting('new.txt')], undefined],
  ] as const)
    it(`report that the user has ${deed} ${before.length} of the files: ${text}`, () => {
      const { announcer, said } = listen(snapshot(after));
      announcer.tell(deed, before, after);
      expect(said).to.deep.equal(text ? [text] : []);
      announcer.stop();
    });

  it('report no start after the user has started a file, but the totals', async () => {
    const after = [file('a.txt', 'uploading', 100, 0.5)];
    const { announcer, said, hear } = listen(snapshot(after));
    announcer.onChange(started('a.txt'));
    announcer.tell('resumed', [held('a.txt')], after);
    announcer.onChange(started('a.txt'));
    announcer.onChange(change('upload-progress', { id: 'a.txt', phase: 'uploading' }));
    await hear(2);
    expect(said).to.deep.equal(['Resuming: a.txt', '50% uploaded, 0 of 1 file done.']);
    announcer.stop();
  });
});

describe('the element says', () => {
  /** What a press of the buttons is announced with. */
  async function heard(element: SecureUploader, ...names: readonly string[]): Promise<string> {
    for (const name of names) {
      await shown(() => buttons(element).includes(name));
      button(element, name).click();
    }
    const said = (): string => one(element, '[role=status]').textContent ?? '';
    await shown(() => /^Re/.test(said()));
    return said();
  }
  const buttons = (element: SecureUploader): string[] => all(element, 'button').map(nameOf);

  for (const [names, text] of [
    [['Cancel: a.txt', 'Undo: a.txt'], 'Restored: a.txt'],
    [['Cancel: a.txt', 'Undo'], 'Restored: a.txt'],
    [['Cancel all', 'Undo'], 'Restored: 2 files'],
    [['Cancel all', 'Undo: b.txt'], 'Restored: b.txt'],
  ] as const)
    it(`${text} after ${names.join(' and ')}`, async () => {
      const { element } = await world({ element: true });
      await element.addFiles(['a.txt', 'b.txt'].map((name) => new File(['12345'], name)));
      expect(await heard(element, ...names)).to.equal(text);
    });

  it('which file it retries, and which ones', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    const names = [uniqueName(), uniqueName()];
    for (const fileName of names) await addFault({ operation: 'commit', match: { fileName }, status: 403 });
    await element.addFiles(names.map((name) => textFile(name)));
    await shown(() => element.snapshot.files.every(({ phase }) => phase === 'failed'));
    for (const fileName of names)
      await addFault({ operation: 'commit', match: { fileName }, delayMs: 60_000 });
    const cause = `Try again: ${ENGLISH.forbidden}`;
    expect(await heard(element, cause)).to.equal('Retrying 2 files');
  });
});

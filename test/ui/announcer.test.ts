// What a screen reader is told, word for word.

import { expect } from '@open-wc/testing';
import { type Change, ENGLISH, type Snapshot } from '../../src/index.ts';
import { Announcer } from '../../src/ui/announcer.ts';
import { createFormat } from '../../src/ui/format.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { file, snapshot } from './fixtures/snapshots.ts';

/** An announcer with small brakes, whose texts are kept in order. */
function listen(state: Snapshot): {
  announcer: Announcer;
  host: { snapshot: Snapshot };
  said: string[];
  until(count: number): Promise<void>;
} {
  const said: string[] = [];
  let wake = (): void => undefined;
  const host = {
    snapshot: state,
    texts: ENGLISH,
    format: createFormat('en'),
    requestUpdate: () => {
      const { polite, alert } = announcer.spoken;
      for (const text of [polite, alert]) if (text && !said.includes(text)) said.push(text);
      wake();
    },
  };
  const announcer = new Announcer(host, { sumsEveryMs: 20, gatherMs: 5 });
  const until = async (count: number): Promise<void> => {
    while (said.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { announcer, host, said, until };
}

const change = <K extends Change['name']>(name: K, detail: object): Change => ({ name, detail }) as Change;
const started = (id: string): Change => change('upload-started', { id, chunkCount: 1, resumedBytes: 0 });
const failed = (name: string): Change =>
  change('upload-failed', { id: name, name, code: 'network', retryable: true });

describe('announcements', () => {
  it('look at no list while files are added, however many there are', () => {
    let looks = 0;
    const host = {
      get snapshot(): Snapshot {
        looks += 1;
        return snapshot([]);
      },
      texts: ENGLISH,
      format: createFormat('en'),
      requestUpdate: () => undefined,
    };
    const announcer = new Announcer(host);
    for (let id = 0; id < 1000; id += 1) announcer.onChange(change('file-added', { id: String(id) }));
    expect(looks).to.equal(0);
  });

  it('tells of three files: the start, the sums, and the end', async () => {
    const names = ['a', 'b', 'c'];
    const { announcer, host, said, until } = listen(
      snapshot(names.map((name) => file(name, 'uploading', 100))),
    );
    for (const name of names) announcer.onChange(started(name));
    await until(1);
    host.snapshot = snapshot([
      file('a', 'done', 100),
      file('b', 'uploading', 100, 0.2),
      file('c', 'queued', 100),
    ]);
    await until(2);
    announcer.onChange(
      change('uploads-finished', { doneCount: 3, failedCount: 0, canceledCount: 0, waitingCount: 0 }),
    );
    expect(said).to.deep.equal([
      'Uploading 3 files.',
      '40% uploaded, 1 of 3 files done.',
      'Finished: 3 files uploaded.',
    ]);
  });

  it('tells of many failures in one sentence, at once', async () => {
    const { announcer, said, until } = listen(snapshot([]));
    for (let index = 0; index < 500; index++) announcer.onChange(failed(`${index}.txt`));
    await until(1);
    expect(said).to.deep.equal([
      "500 files failed to upload. 0.txt: We couldn't reach the server. Check your connection and try again.",
    ]);
    expect(announcer.spoken.polite).to.equal('');
  });

  it('tells of refused files with their limit', async () => {
    const { announcer, said, until } = listen(snapshot([]));
    const detail = {
      id: 'r',
      name: 'b.exe',
      relativePath: 'b.exe',
      sizeBytes: 1,
      code: 'file-type-refused',
      limit: '.pdf',
    };
    announcer.onChange(change('file-rejected', detail));
    await until(1);
    expect(said).to.deep.equal([
      "b.exe wasn't added. This file type isn't allowed. Choose another file. Allowed: PDF.",
    ]);
  });

  it('tells that signing in is needed', () => {
    const { announcer, said } = listen(snapshot([], { auth: { state: 'prompt', required: true } }));
    announcer.onChange(change('auth-changed', { state: 'prompt', previous: 'silent' }));
    expect(said).to.deep.equal(['Sign in to upload']);
  });

  it('tells what did not go well at the end', () => {
    const { announcer, said } = listen(snapshot([]));
    announcer.onChange(
      change('uploads-finished', { doneCount: 1, failedCount: 2, canceledCount: 1, waitingCount: 0 }),
    );
    expect(said).to.deep.equal(['Finished: 1 file uploaded. 2 files failed to upload. 1 file canceled.']);
  });

  it('tells nothing where nothing came to an end', () => {
    const { announcer, said } = listen(snapshot([]));
    announcer.onChange(
      change('uploads-finished', { doneCount: 0, failedCount: 0, canceledCount: 0, waitingCount: 1 }),
    );
    expect(said).to.deep.equal([]);
  });

  for (const [title, counts, text] of [
    ['of one that failed', [0, 1, 0], 'Finished. 1 file failed to upload.'],
    ['of one that was canceled', [0, 0, 1], 'Finished. 1 file canceled.'],
    ['of one that is done', [1, 0, 0], 'Finished: 1 file uploaded.'],
  ] as const)
    it(`tells the end ${title}`, () => {
      const { announcer, said } = listen(snapshot([]));
      const [doneCount, failedCount, canceledCount] = counts;
      announcer.onChange(
        change('uploads-finished', { doneCount, failedCount, canceledCount, waitingCount: 0 }),
      );
      expect(said).to.deep.equal([text]);
    });

  for (const [title, auth, state, text] of [
    ['that signing in failed', { mode: 'popup' }, 'auth-failed', ENGLISH['popup-closed']],
    ['nothing of a failure that the form tells itself', { mode: 'local' }, 'auth-failed', undefined],
    [
      'nothing of signing in that nobody needs',
      { state: 'prompt', required: false },
      'auth-changed',
      undefined,
    ],
    ['nothing of a state that asks nothing', { state: 'popup', required: true }, 'auth-changed', undefined],
  ] as const)
    it(`tells ${title}`, () => {
      const host = snapshot([], { auth });
      const { announcer, said } = listen(host);
      announcer.onChange(change(state, { code: 'popup-closed', state: host.auth.state, previous: 'silent' }));
      expect(said).to.deep.equal(text ? [text] : []);
    });

  it('tells of a file that was lost on its way, and of no other pause', async () => {
    const lost = file('lost.txt', 'paused', 100, 0.5, {
      pauseReason: 'needs-file',
      warning: 'file-unreadable',
    });
    const earlier = file('earlier.txt', 'paused', 100, 0.5, { pauseReason: 'needs-file' });
    const { announcer, said, until } = listen(snapshot([earlier, lost]));
    const paused = (id: string, reason: string): void =>
      announcer.onChange(change('upload-paused', { id, reason }));
    paused(lost.id, 'user');
    paused(earlier.id, 'needs-file');
    paused('gone', 'needs-file');
    paused(lost.id, 'needs-file');
    await until(1);
    expect(said).to.deep.equal([`lost.txt: ${ENGLISH['file-unreadable']}`]);
  });

  it('tells of refused files before failed ones, and of later ones by themselves', async () => {
    const { announcer, said, until } = listen(snapshot([]));
    const rejected = (name: string): void =>
      announcer.onChange(change('file-rejected', { name, code: 'file-empty' }));
    announcer.onChange(failed('in\u202evoice.txt'));
    rejected('a.txt');
    rejected('b.txt');
    await until(1);
    const empty = ENGLISH['file-empty'];
    expect(said[0]).to.equal(`2 files weren't added. a.txt: ${empty} invoice.txt: ${ENGLISH.network}`);
    rejected('c.txt');
    await until(2);
    expect(said[1]).to.equal(`c.txt wasn't added. ${empty}`);
  });

  describe('as time goes by', () => {
    let clock: Clock;
    beforeEach(() => {
      clock = stopClock();
    });
    afterEach(() => clock.restore());

    it('tells sums with the time left, and none while nothing moves', async () => {
      const { announcer, host, said } = listen(snapshot([file('a', 'paused', 100)]));
      announcer.onChange(started('a'));
      await clock.pass(4);
      expect(said).to.deep.equal([]);
      await clock.pass(1);
      for (const [files, expected] of [
        [[file('a', 'paused', 100)], 'Uploading 1 file.'],
        [
          [file('a', 'uploading', 100, 0.5, { bytesPerSecond: 1 })],
          '50% uploaded, 0 of 1 file done, 3 min left.',
        ],
        [[file('empty', 'uploading', 0)], '0% uploaded, 0 of 1 file done.'],
      ] as const) {
        host.snapshot = snapshot(files);
        await clock.pass(20);
        expect(said.at(-1)).to.equal(expected);
      }
    });

    it('tells no start of files that are all done by then', async () => {
      const { announcer, said } = listen(snapshot([file('a', 'done', 100)]));
      announcer.onChange(started('a'));
      await clock.pass(5);
      expect(said).to.deep.equal([]);
    });

    it('tells neither start nor sums once it was stopped', async () => {
      const { announcer, said } = listen(snapshot([file('a', 'uploading', 100)]));
      announcer.onChange(started('a'));
      announcer.stop();
      await clock.pass(5);
      announcer.onChange(started('a'));
      await clock.pass(5);
      announcer.stop();
      await clock.pass(20);
      expect(said).to.deep.equal(['Uploading 1 file.']);
    });

    it('waits ten seconds between sums, and gathers troubles for three tenths of one', async () => {
      const said: string[] = [];
      const host = {
        snapshot: snapshot([file('a', 'uploading', 100)]),
        texts: ENGLISH,
        format: createFormat('en'),
        requestUpdate: () => said.push(announcer.spoken.polite),
      };
      const announcer = new Announcer(host);
      announcer.onChange(started('a'));
      for (const [ms, count] of [
        [299, 0],
        [1, 1],
        [9999, 1],
        [1, 2],
      ] as const) {
        await clock.pass(ms);
        expect(said).to.have.length(count);
      }
      announcer.stop();
    });
  });

  it('tells a start once for files that start together, and again after an end', async () => {
    const { announcer, host, said, until } = listen(snapshot([file('a', 'uploading', 100)]));
    announcer.onChange(started('a'));
    announcer.onChange(started('b'));
    await until(1);
    announcer.onChange(
      change('uploads-finished', { doneCount: 1, failedCount: 0, canceledCount: 0, waitingCount: 0 }),
    );
    host.snapshot = snapshot([file('a', 'queued', 100), file('b', 'queued', 100)]);
    announcer.onChange(started('b'));
    await until(3);
    expect(said).to.deep.equal(['Uploading 1 file.', 'Finished: 1 file uploaded.', 'Uploading 2 files.']);
    announcer.stop();
  });

  it('forgets what was for somebody else', async () => {
    const { announcer, said, until } = listen(snapshot([]));
    announcer.onChange(failed('secret.txt'));
    announcer.onChange(change('file-rejected', { name: 'secret.exe', code: 'file-empty' }));
    announcer.clear();
    announcer.onChange(failed('mine.txt'));
    await until(1);
    expect(said).to.deep.equal([`mine.txt: ${ENGLISH.network}`]);
    announcer.clear();
    expect(announcer.spoken).to.deep.equal({ polite: '', alert: '' });
  });
});

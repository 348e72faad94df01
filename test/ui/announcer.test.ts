// Exact texts of the announcements for screen readers.

import { expect } from '@open-wc/testing';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { Change } from '../../src/core/changes.ts';
import { ENGLISH, type Snapshot } from '../../src/index.ts';
import { Announcer } from '../../src/ui/announcer.ts';
import { createFormat } from '../../src/ui/format.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { change, failed, listen, started } from './listening.ts';

describe('announcements', () => {
  it('read no list while files are added, however many there are', () => {
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

  it('report three files: the start, the totals, and the end', async () => {
    const names = ['a', 'b', 'c'];
    const { announcer, host, said, hear } = listen(
      snapshot(names.map((name) => file(name, 'uploading', 100))),
    );
    for (const name of names) announcer.onChange(started(name));
    await hear(1);
    host.snapshot = snapshot([
      file('a', 'done', 100),
      file('b', 'uploading', 100, 0.2),
      file('c', 'queued', 100),
    ]);
    await hear(2);
    announcer.onChange(
      change('uploads-finished', { doneCount: 3, failedCount: 0, canceledCount: 0, waitingCount: 0 }),
    );
    expect(said).to.deep.equal([
      'Uploading 3 files',
      '40% uploaded, 1 of 3 files done.',
      'Finished: 3 files uploaded.',
    ]);
  });

  it('report once for which reason all files wait, and then their progress', async () => {
    const { announcer, host, said, hear } = listen(snapshot([file('a', 'uploading', 100, 0.5)]));
    const waiting = { pauseReason: 'offline' } as const;
    announcer.onChange(started('a'));
    await hear(1);
    host.snapshot = snapshot(['a', 'b'].map((name) => file(name, 'paused', 100, 0.5, waiting)));
    await hear(2);
    host.snapshot = snapshot(['a', 'b'].map((name) => file(name, 'uploading', 100, 0.5)));
    await hear(3);
    announcer.stop();
    expect(said).to.deep.equal([
      'Uploading 1 file',
      'Waiting for connection',
      '50% uploaded, 0 of 2 files done.',
    ]);
  });

  it('report the totals again only after they have changed', async () => {
    const clock = stopClock();
    const { announcer, host, said } = listen(snapshot([file('a', 'uploading', 100, 0.5)]));
    announcer.onChange(started('a'));
    for (const share of [0.5, 0.5, 0.5, 0.6, 0.6]) {
      host.snapshot = snapshot([file('a', 'uploading', 100, share)]);
      await clock.pass(25);
    }
    announcer.stop();
    clock.restore();
    expect(said).to.deep.equal([
      'Uploading 1 file',
      '50% uploaded, 0 of 1 file done.',
      '60% uploaded, 0 of 1 file done.',
    ]);
  });

  it('report many failures in one sentence, immediately', async () => {
    const { announcer, said, hear } = listen(snapshot([]));
    for (let index = 0; index < 500; index++) announcer.onChange(failed(`${index}.txt`));
    await hear(1);
    expect(said).to.deep.equal([
      "500 files failed to upload. 0.txt: We couldn't reach the server. Check your connection and try again.",
    ]);
    expect(announcer.spoken.polite).to.equal(undefined);
  });

  it('report rejected files with their limit', async () => {
    const { announcer, said, hear } = listen(snapshot([]));
    const detail = {
      id: 'r',
      name: 'b.exe',
      relativePath: 'b.exe',
      sizeBytes: 1,
      code: 'file-type-refused',
      limit: '.pdf',
    };
    announcer.onChange(change('file-rejected', detail));
    await hear(1);
    expect(said).to.deep.equal([
      "b.exe wasn't added. File type not allowed. Choose another file. Allowed: PDF.",
    ]);
  });

  it('report that sign-in is required', () => {
    const { announcer, said } = listen(snapshot([], { auth: { state: 'prompt', required: true } }));
    announcer.onChange(change('auth-changed', { state: 'prompt', previous: 'silent' }));
    expect(said).to.deep.equal(['Sign in to upload']);
  });

  it('report only the error if sign-in has failed', () => {
    const error = { code: 'credentials-rejected' as const, retryable: true };
    const { announcer, said } = listen(snapshot([], { auth: { state: 'prompt', required: true, error } }));
    announcer.onChange(change('auth-changed', { state: 'prompt', previous: 'login' }));
    expect(said).to.deep.equal([]);
  });

  it('report failures at the end', () => {
    const { announcer, said } = listen(snapshot([]));
    announcer.onChange(
      change('uploads-finished', { doneCount: 1, failedCount: 2, canceledCount: 1, waitingCount: 0 }),
    );
    expect(said).to.deep.equal(['Finished: 1 file uploaded. 2 files failed to upload. 1 file canceled.']);
  });

  it('report no end if no upload ended', () => {
    const { announcer, said } = listen(snapshot([]));
    announcer.onChange(
      change('uploads-finished', { doneCount: 0, failedCount: 0, canceledCount: 0, waitingCount: 1 }),
    );
    expect(said).to.deep.equal([]);
  });

  const ended = (doneCount: number, failedCount: number): Change =>
    change('uploads-finished', { doneCount, failedCount, canceledCount: 0, waitingCount: 0 });
  const cause = (name: string): string => `${name}: ${ENGLISH.network}`;

  for (const [title, names, end, text] of [
    ['the only file', ['a.txt'], ended(0, 1), cause('a.txt')],
    ['the last file', ['a.txt'], ended(2, 1), `Finished: 2 files uploaded. ${cause('a.txt')}`],
    ['the last files', ['a.txt', 'b.txt'], ended(0, 2), `2 files failed to upload. ${cause('a.txt')}`],
    [
      'the last file, after others',
      ['b.txt'],
      ended(1, 3),
      `Finished: 1 file uploaded. 3 files failed to upload. ${cause('b.txt')}`,
    ],
  ] as const)
    it(`report the failure of ${title} once, with its cause and the end`, async () => {
      const { announcer, said, hear } = listen(snapshot([]));
      for (const name of names) announcer.onChange(failed(name));
      announcer.onChange(end);
      expect(said).to.deep.equal([]);
      await hear(1);
      expect(said).to.deep.equal([text]);
      expect(announcer.spoken.polite).to.equal(undefined);
    });

  it('report an earlier failure in the end, without its cause', async () => {
    const { announcer, said, hear } = listen(snapshot([]));
    announcer.onChange(failed('a.txt'));
    await hear(1);
    announcer.onChange(ended(1, 1));
    expect(said).to.deep.equal([cause('a.txt'), 'Finished: 1 file uploaded. 1 file failed to upload.']);
  });

  for (const [title, counts, text] of [
    ['of one that failed', [0, 1, 0], 'Finished. 1 file failed to upload.'],
    ['of one that was canceled', [0, 0, 1], 'Finished. 1 file canceled.'],
    ['of one that is done', [1, 0, 0], 'Finished: 1 file uploaded.'],
  ] as const)
    it(`report the end ${title}`, () => {
      const { announcer, said } = listen(snapshot([]));
      const [doneCount, failedCount, canceledCount] = counts;
      announcer.onChange(
        change('uploads-finished', { doneCount, failedCount, canceledCount, waitingCount: 0 }),
      );
      expect(said).to.deep.equal([text]);
    });

  for (const [title, auth, state, text] of [
    ['that sign-in failed', { mode: 'popup' }, 'auth-failed', ENGLISH['popup-closed']],
    ['no failure that the form announces', { mode: 'local' }, 'auth-failed', undefined],
    [
      'nothing of sign-in if no upload needs it',
      { state: 'prompt', required: false },
      'auth-changed',
      undefined,
    ],
    [
      'nothing of a state without a request to the user',
      { state: 'popup', required: true },
      'auth-changed',
      undefined,
    ],
  ] as const)
    it(`report ${title}`, () => {
      const host = snapshot([], { auth });
      const { announcer, said } = listen(host);
      announcer.onChange(change(state, { code: 'popup-closed', state: host.auth.state, previous: 'silent' }));
      expect(said).to.deep.equal(text ? [text] : []);
    });

  it('report a file that became unreadable, and no other pause', async () => {
    const lost = file('lost.txt', 'paused', 100, 0.5, {
      pauseReason: 'needs-file',
      warning: 'file-unreadable',
    });
    const earlier = file('earlier.txt', 'paused', 100, 0.5, { pauseReason: 'needs-file' });
    const { announcer, said, hear } = listen(snapshot([earlier, lost]));
    const paused = (id: string, reason: string): void =>
      announcer.onChange(change('upload-paused', { id, reason }));
    paused(lost.id, 'user');
    paused(earlier.id, 'needs-file');
    paused('gone', 'needs-file');
    paused(lost.id, 'needs-file');
    await hear(1);
    expect(said).to.deep.equal([`lost.txt: ${ENGLISH['file-unreadable']}`]);
  });

  it('report rejected files before failed ones, and later ones separately', async () => {
    const { announcer, said, hear } = listen(snapshot([]));
    const rejected = (name: string): void =>
      announcer.onChange(change('file-rejected', { name, code: 'file-empty' }));
    announcer.onChange(failed('in\u202evoice.txt'));
    rejected('a.txt');
    rejected('b.txt');
    await hear(1);
    const empty = ENGLISH['file-empty'];
    expect(said[0]).to.equal(`2 files weren't added. a.txt: ${empty} invoice.txt: ${ENGLISH.network}`);
    rejected('c.txt');
    await hear(2);
    expect(said[1]).to.equal(`c.txt wasn't added. ${empty}`);
  });

  describe('announcements over time', () => {
    let clock: Clock;
    beforeEach(() => {
      clock = stopClock();
    });
    afterEach(() => clock.restore());

    it('report totals with the time left, and none while nothing is sent', async () => {
      const { announcer, host, said } = listen(snapshot([file('a', 'uploading', 100)]));
      announcer.onChange(started('a'));
      await clock.pass(4);
      expect(said).to.deep.equal([]);
      await clock.pass(1);
      for (const [files, expected] of [
        [[file('a', 'paused', 100)], 'Uploading 1 file'],
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

    it('report why all files wait once, and again after it was over', async () => {
      const files = (phase: 'paused' | 'uploading', pauseReason?: 'offline' | 'rate-limited'): Snapshot =>
        snapshot(['a', 'b'].map((name) => file(name, phase, 100, 0.5, pauseReason && { pauseReason })));
      const { announcer, host, said } = listen(files('paused', 'offline'));
      announcer.onChange(started('a'));
      for (const next of [
        files('paused', 'offline'),
        files('paused', 'rate-limited'),
        files('uploading'),
        files('paused', 'offline'),
      ]) {
        await clock.pass(25);
        await clock.pass(40);
        host.snapshot = next;
      }
      await clock.pass(60);
      announcer.stop();
      expect(said.filter((text) => !/%/.test(text))).to.deep.equal([
        'Waiting for connection',
        'Server busy, retrying soon',
        'Waiting for connection',
      ]);
    });

    it('report no start of files that are all done by then', async () => {
      const { announcer, said } = listen(snapshot([file('a', 'done', 100)]));
      announcer.onChange(started('a'));
      await clock.pass(5);
      expect(said).to.deep.equal([]);
    });

    it('report neither start nor totals after a stop', async () => {
      const { announcer, said } = listen(snapshot([file('a', 'uploading', 100)]));
      announcer.onChange(started('a'));
      announcer.stop();
      await clock.pass(5);
      announcer.onChange(started('a'));
      await clock.pass(5);
      announcer.stop();
      await clock.pass(20);
      expect(said).to.deep.equal(['Uploading 1 file']);
    });

    it('say the same sentence again, and are gone after five seconds', async () => {
      const { announcer, said } = listen(snapshot([]));
      for (let count = 1; count <= 3; count++) {
        announcer.onChange(failed('a.txt'));
        await clock.pass(5);
        announcer.say('Removed');
        expect(said).to.have.length(2 * count);
        await clock.pass(count === 1 ? 1000 : 4999);
      }
      expect(announcer.spoken.polite?.textContent).to.equal('Removed');
      await clock.pass(1);
      expect(announcer.spoken).to.deep.equal({ polite: undefined, alert: undefined });
    });

    it('leave ten seconds between totals, and collect errors for 300 ms', async () => {
      const said: Node[] = [];
      const host = {
        snapshot: snapshot([file('a', 'uploading', 100)]),
        texts: ENGLISH,
        format: createFormat('en'),
        requestUpdate: () => {
          if (announcer.spoken.polite) said.push(announcer.spoken.polite);
        },
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

  it('report a start once for files that start together, and again after an end', async () => {
    const { announcer, host, said, hear } = listen(snapshot([file('a', 'uploading', 100)]));
    announcer.onChange(started('a'));
    announcer.onChange(started('b'));
    await hear(1);
    announcer.onChange(
      change('uploads-finished', { doneCount: 1, failedCount: 0, canceledCount: 0, waitingCount: 0 }),
    );
    host.snapshot = snapshot([file('a', 'queued', 100), file('b', 'committing', 100)]);
    announcer.onChange(started('b'));
    await hear(3);
    expect(said).to.deep.equal(['Uploading 1 file', 'Finished: 1 file uploaded.', 'Uploading 2 files']);
    announcer.stop();
  });

  it('drop pending texts of the previous owner', async () => {
    const { announcer, said, hear } = listen(snapshot([]));
    announcer.onChange(failed('secret.txt'));
    announcer.onChange(change('file-rejected', { name: 'secret.exe', code: 'file-empty' }));
    announcer.clear();
    announcer.onChange(failed('mine.txt'));
    await hear(1);
    expect(said).to.deep.equal([`mine.txt: ${ENGLISH.network}`]);
    announcer.clear();
    expect(announcer.spoken).to.deep.equal({});
  });
});

// What a screen reader is told, word for word.

import { expect } from '@open-wc/testing';
import { type Change, ENGLISH, type Snapshot } from '../../src/index.ts';
import { Announcer } from '../../src/ui/announcer.ts';
import { createFormat } from '../../src/ui/format.ts';
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
      '500 files not uploaded. 0.txt: The service cannot be reached. Check your connection, then retry.',
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
      'b.exe was not added. This type of file is not accepted here. Choose another one. Accepted: PDF.',
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
    expect(said).to.deep.equal(['Finished: 1 file uploaded. 2 files not uploaded. 1 file canceled.']);
  });
});

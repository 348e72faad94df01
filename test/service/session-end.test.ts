// Sessions that are not needed: they are canceled before the next session of the same folder and name is requested.

import { expect } from '@open-wc/testing';
import { rejection, until } from '../support/collect.ts';
import { addFault, callsOf, forever, logOf, openSession as open, uniqueName } from './reference.ts';

describe('a session', () => {
  it('is canceled if its request is aborted before the response, as after a pause', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    await addFault({ operation: 'session', delayMs: 300, match: { fileName } });
    const controller = new AbortController();
    const opened = calls.openSession({ parentId: 'folder-a', fileName, fileSize: 1000 }, controller.signal);
    await until(async () => (await logOf({ fileName })).length === 1);
    controller.abort('paused');
    expect(await rejection(opened)).to.equal('paused');
    await until(async () => (await logOf({ fileName })).some(({ operation }) => operation === 'cancel'));
  });

  it('is canceled before the next session of this name is requested, as after a pause and a resume', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    await addFault({ operation: 'session', delayMs: 300, match: { fileName } });
    const controller = new AbortController();
    const opened = calls.openSession({ parentId: 'folder-a', fileName, fileSize: 1000 }, controller.signal);
    await until(async () => (await logOf({ fileName })).length === 1);
    controller.abort('paused');
    expect(await rejection(opened)).to.equal('paused');
    await open(calls, fileName);
    const operations = (await logOf({ fileName })).map(({ operation }) => operation);
    expect(operations).to.deep.equal(['session', 'cancel', 'session']);
  });

  it('that is being canceled holds up the next session of this name', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    await addFault({ operation: 'cancel', delayMs: 300, match: { fileName } });
    const session = await open(calls, fileName);
    let isCanceled = false;
    const canceled = calls.cancel?.(session, forever).then(() => {
      isCanceled = true;
    });
    await open(calls, fileName);
    expect(isCanceled).to.equal(true);
    await canceled;
  });

  it('that is being canceled holds up no session of another name, and none that is aborted', async () => {
    const calls = await callsOf();
    const fileName = uniqueName();
    await addFault({ operation: 'session', delayMs: 60_000, match: { fileName } });
    const controller = new AbortController();
    const openSame = (): Promise<unknown> =>
      rejection(calls.openSession({ parentId: 'folder-a', fileName, fileSize: 1000 }, controller.signal));
    const opened = openSame();
    await until(async () => (await logOf({ fileName })).length === 1);
    controller.abort('paused');
    await opened;
    await open(calls, uniqueName());
    expect(await openSame()).to.equal('paused');
    expect(await logOf({ fileName })).to.have.length(1);
  });
});

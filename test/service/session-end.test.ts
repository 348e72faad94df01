// Sessions that are not needed: they are canceled before the next session of the same folder and name is requested.

import { expect } from '@open-wc/testing';
import type { Calls } from '../../src/core/types.ts';
import { rejection, until } from '../support/collect.ts';
import { addFault, callsOf, forever, logOf, openSession as open, uniqueName } from './reference.ts';

/**
 * Requests a session whose response takes `delayMs`, and aborts the request when the service has it. Returns the name of the file,
 * and a function that requests the same session with the aborted signal.
 */
async function abortOpening(calls: Calls, delayMs: number) {
  const fileName = uniqueName();
  await addFault({ operation: 'session', delayMs, match: { fileName } });
  const controller = new AbortController();
  const openAborted = (): Promise<unknown> =>
    rejection(calls.openSession({ parentId: 'folder-a', fileName, fileSize: 1000 }, controller.signal));
  const opened = openAborted();
  await until(async () => (await logOf({ fileName })).length === 1);
  controller.abort('paused');
  expect(await opened).to.equal('paused');
  return { fileName, openAborted };
}

const operationsOf = async (fileName: string): Promise<string[]> =>
  (await logOf({ fileName })).map(({ operation }) => operation);

describe('a session', () => {
  it('is canceled if its request is aborted before the response, as after a pause', async () => {
    const { fileName } = await abortOpening(await callsOf(), 300);
    await until(async () => (await operationsOf(fileName)).includes('cancel'));
  });

  it('is canceled before the next session of this name is requested, as after a pause and a resume', async () => {
    const calls = await callsOf();
    const { fileName } = await abortOpening(calls, 300);
    await open(calls, fileName);
    expect(await operationsOf(fileName)).to.deep.equal(['session', 'cancel', 'session']);
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
    const { fileName, openAborted } = await abortOpening(calls, 60_000);
    await open(calls, uniqueName());
    expect(await openAborted()).to.equal('paused');
    expect(await logOf({ fileName })).to.have.length(1);
  });
});

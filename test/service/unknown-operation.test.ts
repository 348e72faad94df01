// An endpoint that returns 404 for the operation: a wrong base URL or path of the page.

import { expect } from '@open-wc/testing';
import type { Calls, Session } from '../../src/core/types.ts';
import { captureWarnings } from '../support/console.ts';
import {
  addFault,
  callsOf,
  forever,
  randomChunk,
  referenceSettings,
  rejection,
  uniqueName,
} from './reference.ts';

const open = (calls: Calls, fileName: string, parentId = 'folder-a'): Promise<Session> =>
  calls.openSession({ parentId, fileName, fileSize: 1000 }, forever);

describe('an error response', () => {
  it('of an endpoint without the operation warns on the console, with its URL, once', () =>
    captureWarnings(async (warnings) => {
      const { baseUrl } = await referenceSettings();
      const nowhere = await callsOf('alice', { baseUrl: `${baseUrl}/nowhere` });
      for (const name of [uniqueName(), uniqueName()])
        expect(await rejection(open(nowhere, name))).to.include({ code: 'forbidden', status: 404 });
      const calls = await callsOf('alice', { commitPath: '/files/complete?key=secret' });
      const session = await open(calls, uniqueName());
      const commit = calls.commit?.(session, { hashes: [], receipts: [] }, forever) ?? Promise.resolve();
      expect(await rejection(commit)).to.include({ code: 'session-expired', status: 404 });
      const body = '<h1>Method Not Allowed</h1>';
      const fileName = uniqueName();
      await addFault({ operation: 'session', match: { fileName }, status: 405, body });
      await rejection(open(await callsOf(), fileName));
      const told404 = 'secure-uploader: the service answered 404 to';
      const why = 'right, as base-url and the path have it?';
      expect(warnings).to.deep.equal([
        `${told404} open: is ${baseUrl}/nowhere/files/uploadsession ${why}`,
        `${told404} commit: is ${baseUrl}/files/complete ${why}`,
        `secure-uploader: the service answered 405 to open: is ${baseUrl}/files/uploadsession ${why}`,
      ]);
    }));

  it('of the service itself does not warn about its URL', () =>
    captureWarnings(async (warnings) => {
      const calls = await callsOf();
      await rejection(open(calls, uniqueName(), 'folder-none'));
      await rejection(calls.presign({ sessionId: 's', header: 'none' }, [await randomChunk()], forever));
      expect(warnings).to.deep.equal([]);
    }));
});

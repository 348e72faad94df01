// Warnings about a wrong base URL or path, if the endpoint does not have the operation (404 or 405).

import { expect } from '@open-wc/testing';
import type { Calls, Session } from '../../src/core/types.ts';
import { rejection } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { addFault, callsOf, forever, randomChunk, referenceSettings, uniqueName } from './reference.ts';

const open = (calls: Calls, fileName: string, parentId = 'folder-a'): Promise<Session> =>
  calls.openSession({ parentId, fileName, fileSize: 1000 }, forever);

describe('an error response', () => {
  it('of an endpoint without the operation warns on the console, with its URL, once', () =>
    captureWarnings(async (warnings) => {
      const { baseUrl } = await referenceSettings();
      const nowhere = await callsOf('alice', { baseUrl: `${baseUrl}/nowhere` });
      for (const name of [uniqueName(), uniqueName()])
        expect(await rejection(open(nowhere, name))).to.include({ code: 'service-not-found', status: 404 });
      const calls = await callsOf('alice', { commitPath: '/files/complete?key=secret' });
      const session = await open(calls, uniqueName());
      const commit = calls.commit?.(session, { hashes: [], receipts: [] }, forever) ?? Promise.resolve();
      expect(await rejection(commit)).to.include({ code: 'session-expired', status: 404 });
      await (await callsOf('alice', { cancelPath: '/files/nothing' })).cancel?.(session, forever);
      const body = '<h1>Method Not Allowed</h1>';
      const fileName = uniqueName();
      await addFault({ operation: 'session', match: { fileName }, status: 405, body });
      await rejection(open(await callsOf(), fileName));
      const warning = 'secure-uploader: The service responded with';
      expect(warnings).to.deep.equal([
        `${warning} 404 to open. Check base-url and session-path: ${baseUrl}/nowhere/files/uploadsession`,
        `${warning} 404 to commit. Check base-url and commit-path: ${baseUrl}/files/complete`,
        `${warning} 404 to cancel. Check base-url and cancel-path: ${baseUrl}/files/nothing`,
        `${warning} 405 to open. Check base-url and session-path: ${baseUrl}/files/uploadsession`,
      ]);
    }));

  it('of the service itself warns about an unknown folder, and not about its URL', () =>
    captureWarnings(async (warnings) => {
      const calls = await callsOf();
      await rejection(open(calls, uniqueName(), 'folder-none'));
      const closed = await open(calls, uniqueName());
      for (let count = 0; count < 2; count += 1) await calls.cancel?.(closed, forever);
      await rejection(calls.presign({ sessionId: 's', header: 'none' }, [await randomChunk()], forever));
      expect(warnings).to.deep.equal([
        'secure-uploader: The service responded with 404 to open. Check parent-id and the rights of the user.',
      ]);
    }));
});

// An engine without the interface, connected to the reference service.

import type { SettingsInput } from '../../src/core/config.ts';
import { Uploader, type UploaderOptions } from '../../src/engine/uploader.ts';
import { createUploadStore, type UploadStore } from '../../src/store/uploads.ts';
import { findReference, tokenOf } from '../service/reference.ts';

const engines: Uploader[] = [];

/** Returns a store that no other test uses. */
export const newStore = (): UploadStore => createUploadStore({ name: `test-${crypto.randomUUID()}` });

/** Returns an engine. By default, chunks are small, delays before retries are short, and the store is new. */
export async function connectEngine(
  settings: SettingsInput = {},
  options: UploaderOptions = {},
): Promise<Uploader> {
  const { baseUrl } = await findReference();
  const uploader = new Uploader(
    {
      baseUrl,
      parentId: 'folder-a',
      multiple: true,
      chunkSize: '64KiB',
      commitPath: '/files/uploadsession/commit',
      getToken: () => tokenOf('alice'),
      ...settings,
    },
    { store: newStore(), policy: { attempts: 5, baseMs: 1, capMs: 20 }, ...options },
  );
  engines.push(uploader);
  return uploader;
}

/** Closes all engines of a test. Used in `afterEach`. */
export async function closeConnectedEngines(): Promise<void> {
  await Promise.all(engines.splice(0).map((uploader) => uploader.close()));
}

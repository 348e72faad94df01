// An engine with a scripted service, real settings, workers and store, sign-in mode `none`, and a log of its changes.

import type { Change, ChangeMap, ChangeName } from '../../src/core/changes.ts';
import type { SettingsInput } from '../../src/core/config.ts';
import type { FileSnapshot, PickedFile } from '../../src/core/types.ts';
import { connect } from '../../src/engine/connection.ts';
import { Uploader, type UploaderOptions } from '../../src/engine/uploader.ts';
import { createUploadStore, type UploadStore } from '../../src/store/uploads.ts';
import { fileOf } from './bytes.ts';
import { until } from './collect.ts';
import { ScriptedService } from './scripted-service.ts';

/**
 * URL of the service. Different on each page, because test pages run in parallel and the names of locks and channels contain the
 * URL.
 */
export const SERVICE_URL = `https://${crypto.randomUUID()}.test`;

/** Settings of the tests' engines: all operations are configured, and chunks are small. */
export const ENGINE_SETTINGS: SettingsInput = {
  parentId: 'folder-a',
  auth: 'none',
  multiple: true,
  chunkSize: 1000,
  concurrency: 2,
  commitPath: '/commit',
  cancelPath: '/session',
};

const engines: TestEngine[] = [];

export class TestEngine {
  readonly service = new ScriptedService();
  readonly changes: Change[] = [];
  readonly uploader: Uploader;
  readonly input: SettingsInput;

  constructor(settings: SettingsInput = {}, options: UploaderOptions = {}) {
    this.input = { ...ENGINE_SETTINGS, baseUrl: SERVICE_URL, ...settings };
    this.uploader = new Uploader(this.input, {
      policy: { attempts: 3, baseMs: 0, capMs: 0 },
      store: createUploadStore({ name: `test-${crypto.randomUUID()}` }),
      page: new Set(),
      connect: (...given) => ({ ...connect(...given), calls: this.service.calls, put: this.service.put }),
      ...options,
    });
    this.uploader.onChange((change) => this.changes.push(change));
    engines.push(this);
  }

  /**
   * Returns the names of the reported changes, without changes of chunks and progress. With `fileName`, returns only the names for
   * this file.
   */
  changeNames(fileName?: string): ChangeName[] {
    const id = fileName === undefined ? undefined : this.row(fileName)?.id;
    return this.changes
      .filter(({ detail }) => id === undefined || ('id' in detail && detail.id === id))
      .map(({ name }) => name)
      .filter((name) => name !== 'upload-progress' && !name.startsWith('chunk-'));
  }

  details<K extends ChangeName>(name: K): ChangeMap[K][] {
    return this.changes.filter((change) => change.name === name).map(({ detail }) => detail as ChangeMap[K]);
  }

  /** Returns the file with this name in the list, or the last of several. */
  row(fileName: string): FileSnapshot | undefined {
    return this.uploader.snapshot.files.findLast(({ name }) => name === fileName);
  }

  id(fileName: string): string {
    const row = this.row(fileName);
    if (!row) throw new Error(`there is no row of ${fileName}`);
    return row.id;
  }

  phase(fileName: string): FileSnapshot['phase'] | undefined {
    return this.row(fileName)?.phase;
  }

  phases(): string[] {
    return this.uploader.snapshot.files.map(({ phase }) => phase);
  }

  /** Waits until the engine has reported the change `name` `count` times. */
  async waitForChange(name: ChangeName, count = 1): Promise<void> {
    await until(() => this.details(name).length >= count);
  }
}

/** Closes all engines of a test. Used in `afterEach`. */
export async function closeEngines(): Promise<void> {
  await Promise.all(engines.splice(0).map(({ uploader }) => uploader.close()));
}

/** Returns an engine with one file of three chunks: one chunk is stored, two are being sent. */
export async function halfWay(settings = {}, options: UploaderOptions = {}): Promise<TestEngine> {
  const engine = new TestEngine(settings, options);
  engine.service.answerAll('open', 'presign');
  await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  (await engine.service.nextRequest('put')).answer();
  await engine.waitForChange('chunk-uploaded');
  await until(() => engine.service.waiting('put').length === 2);
  return engine;
}

/** Returns a store with an upload of a closed page. One chunk of the upload is stored. */
export async function createUnfinished(
  picked: PickedFile | File,
  settings = {},
  store: UploadStore = createUploadStore({ name: `test-${crypto.randomUUID()}` }),
): Promise<UploadStore> {
  const before = new TestEngine(settings, { store });
  const { name } = picked instanceof File ? picked : picked.file;
  before.service.answerAll('open', 'presign');
  await before.uploader.addFiles([picked]);
  (await before.service.nextRequest('put')).answer();
  await until(async () =>
    (await store.list()).some((record) => record.name === name && record.stored.size === 1),
  );
  await before.uploader.close();
  return store;
}

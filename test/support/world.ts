// A page of a test: an engine or the element, with a scripted service or the reference service. It ends after the test.

import { fixture, html } from '@open-wc/testing';
import type { Change, ChangeMap, ChangeName } from '../../src/core/changes.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { FileSnapshot, PickedFile, Snapshot, UploadRecord } from '../../src/core/types.ts';
import { connect } from '../../src/engine/connection.ts';
import { SavedUploads, type UploadStore } from '../../src/engine/resume/upload-store.ts';
import { Uploader } from '../../src/engine/uploader.ts';
import type { UploaderOptions } from '../../src/engine/uploader-options.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { findReference, tokenOf } from '../service/reference.ts';
import { fileOf } from './bytes.ts';
import { until } from './collect.ts';
import { type Kind, ScriptedService } from './scripted-service.ts';

/**
 * URL of the service. Different on each page, because test pages run in parallel and the names of locks and channels contain the
 * URL.
 */
export const SERVICE_URL = `https://${crypto.randomUUID()}.test`;

/** Settings of the engines with a scripted service: all operations are configured, and chunks are small. */
export const ENGINE_SETTINGS: SettingsInput = {
  parentId: 'folder-a',
  auth: 'none',
  multiple: true,
  chunkSize: 1000,
  concurrency: 2,
  commitPath: '/commit',
  cancelPath: '/session',
};

/** Settings of the engine, and properties of the element. */
export interface WorldSettings extends SettingsInput {
  readonly directory?: boolean;
  readonly disabled?: boolean;
  readonly chunkEvents?: boolean;
}

type IsElement = true | undefined;
type ServiceName = 'reference' | undefined;

/** Settings and options of the engine, and options of its page. */
export interface WorldOptions<E extends IsElement = undefined, S extends ServiceName = undefined>
  extends WorldSettings,
    UploaderOptions {
  /** If true, the page has the element. The test imports src/define.ts, which the tests of engines don't load. */
  readonly element?: E;
  /** Alice is signed in to the reference service. By default, the service is scripted. */
  readonly service?: S;
  /** Kinds of requests to which the scripted service responds at once. */
  readonly answers?: S extends 'reference' ? never : readonly Kind[];
}

/** Names of the options of the engine. Everything else that a page has is a setting. */
const OPTIONS: Readonly<Record<keyof UploaderOptions, true>> = {
  times: true,
  policy: true,
  commitDeadlineMs: true,
  store: true,
  onSpan: true,
  warn: true,
  connect: true,
  page: true,
};

const settingsIn = (given: object): WorldSettings =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !(name in OPTIONS)));
const optionsIn = (given: object): UploaderOptions =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name in OPTIONS));

export type World<E extends IsElement = undefined, S extends ServiceName = undefined> = (E extends true
  ? Stage
  : Omit<ReturnType<typeof openEngine>, 'service'>) &
  (S extends 'reference' ? unknown : { readonly service: ScriptedService });

type Opened<E extends IsElement, S extends ServiceName> = [E, S] extends [undefined, undefined]
  ? World<E, S>
  : Promise<World<E, S>>;

export interface Stage {
  readonly element: SecureUploader;
  /** Log of browser calls, oldest first. With the reference service, the calls reach the browser and are not logged. */
  readonly asked: string[];
}

/** What ends with the test. */
const ends: (() => unknown)[] = [];

afterEach(async () => {
  const latestFirst = ends.splice(0).reverse();
  await Promise.all(latestFirst.map(async (end) => end()));
});

/** Replaces a property until the end of the test. */
export function replace<T extends object>(target: T, name: keyof T & string, value: unknown): void {
  const own = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  ends.push(() => {
    if (own) Object.defineProperty(target, name, own);
    else Reflect.deleteProperty(target, name);
  });
}

/** Returns the names that are written to `localStorage` from now on, in their order, until the end of the test. */
export function recordWrites(): readonly string[] {
  const { setItem } = Storage.prototype;
  const names: string[] = [];
  replace(Storage.prototype, 'setItem', function (this: Storage, name: string, value: string) {
    names.push(name);
    setItem.call(this, name, value);
  });
  return names;
}

/** Window that never responds. The window is open until `closed` is set. */
export interface FakeWindow {
  closed: boolean;
}

/** Replaces pickers and windows by entries in `asked`. `open` returns the opened window, or `null` for a blocked window. */
export function watchBrowser(asked: string[], open: () => FakeWindow | null = () => null): void {
  replace(globalThis, 'showOpenFilePicker' as never, undefined);
  replace(HTMLInputElement.prototype, 'click', function click(this: HTMLInputElement) {
    asked.push(`picker: ${this.id || 'one file'}`);
  });
  replace(globalThis, 'open' as never, () => {
    const opened = open();
    asked.push(opened ? 'window opened' : 'window blocked');
    if (!opened) return null;
    const close = (): void => {
      opened.closed = true;
    };
    const focus = (): void => void asked.push('window focused');
    return Object.assign(opened, { close, focus, location: { replace: () => undefined } });
  });
}

/** Returns a store that no other test uses. Its calls are functions, so that tests replace some: `{ ...store, find }`. */
export function newStore(name = `test-${crypto.randomUUID()}`): UploadStore {
  const store = new SavedUploads({ name });
  return {
    find: (key) => store.find(key),
    save: (...given) => store.save(...given),
    update: (...given) => store.update(...given),
    fileBytes: () => store.fileBytes(),
    saveChunks: (...given) => store.saveChunks(...given),
    remove: (...given) => store.remove(...given),
    keys: (...given) => store.keys(...given),
    list: (...given) => store.list(...given),
    prune: (...given) => store.prune(...given),
    clear: () => store.clear(),
  };
}

/** Returns lookups in the list and in the log of changes. */
function lookupsOf(list: { readonly snapshot: Snapshot }, changes: readonly Change[]) {
  /** Returns the file with this name in the list, or the last of several. */
  const row = (fileName: string): FileSnapshot | undefined =>
    list.snapshot.files.findLast(({ name }) => name === fileName);
  const details = <K extends ChangeName>(name: K): ChangeMap[K][] =>
    changes.filter((change) => change.name === name).map(({ detail }) => detail as ChangeMap[K]);
  return {
    changes,
    row,
    details,
    id(fileName: string): string {
      const { id } = row(fileName) ?? {};
      if (id === undefined) throw new Error(`there is no row of ${fileName}`);
      return id;
    },
    phase: (fileName: string): FileSnapshot['phase'] | undefined => row(fileName)?.phase,
    phases: (): string[] => list.snapshot.files.map(({ phase }) => phase),
    /**
     * Returns the names of the reported changes, without changes of chunks and progress. With `fileName`, returns only the names
     * for this file.
     */
    changeNames(fileName?: string): ChangeName[] {
      const id = fileName === undefined ? undefined : row(fileName)?.id;
      return changes
        .filter(({ detail }) => id === undefined || ('id' in detail && detail.id === id))
        .map(({ name }) => name)
        .filter((name) => name !== 'upload-progress' && !name.startsWith('chunk-'));
    },
    /** Waits until the change `name` was reported `count` times. */
    waitForChange: (name: ChangeName, count = 1): Promise<void> =>
      until(
        () => details(name).length >= count,
        () => `${name}, ${details(name).length} of ${count}`,
      ),
  };
}

/** Returns the settings and options of an engine with a scripted service. */
function scripted(service: ScriptedService): [SettingsInput, UploaderOptions] {
  return [
    { ...ENGINE_SETTINGS, baseUrl: SERVICE_URL },
    {
      store: newStore(),
      policy: { attempts: 3, baseMs: 0, capMs: 0 },
      page: new Set(),
      connect: (...given) => ({ ...connect(...given), calls: service.calls, put: service.put }),
    },
  ];
}

/** Resolves with the settings of a page of Alice. */
async function pageOfAlice(): Promise<SettingsInput> {
  const { baseUrl } = await findReference();
  return {
    baseUrl,
    parentId: 'folder-a',
    multiple: true,
    commitPath: '/files/uploadsession/commit',
    getToken: () => tokenOf('alice'),
  };
}

/** Returns the properties of an element with a scripted service. Each element has another service. */
function scriptedProperties(service: ScriptedService, options: UploaderOptions): object {
  const [{ concurrency: _, ...settings }, defaults] = scripted(service);
  const baseUrl = `https://${crypto.randomUUID()}.test`;
  return { ...settings, baseUrl, engineOptions: { ...defaults, ...options } };
}

function openEngine(input: SettingsInput, options: UploaderOptions, service?: ScriptedService) {
  const changes: Change[] = [];
  const uploader = new Uploader(input, options);
  uploader.onChange((change) => changes.push(change));
  ends.push(() => {
    // Closing would wait ten seconds for a service that does not respond to a cancel.
    service?.answerAll('cancel');
    return uploader.close();
  });
  return { uploader, input, service, ...lookupsOf(uploader, changes) };
}

async function openElement(properties: object, service?: ScriptedService) {
  const asked: string[] = [];
  if (service) watchBrowser(asked);
  const element = await fixture<SecureUploader>(html`<secure-uploader></secure-uploader>`);
  Object.assign(element, properties);
  await element.updateComplete;
  // Waits for the engine. An element without settings has none.
  if (element.baseUrl) await element.clear().catch(() => undefined);
  return { element, asked, service };
}

/** Opens a page with the reference service: chunks are small, and delays before retries are short, unless it has the element. */
async function openAlice(isElement: IsElement, settings: WorldSettings, options: UploaderOptions) {
  const page = { ...(await pageOfAlice()), ...settings };
  if (isElement) return openElement({ ...page, engineOptions: options });
  return openEngine(
    { chunkSize: '64KiB', ...page },
    { store: newStore(), policy: { attempts: 5, baseMs: 1, capMs: 20 }, ...options },
  );
}

/**
 * Opens a page, which is closed after the test. An engine with a scripted service is returned at once, so that a test can give it
 * commands in the same task.
 */
export function world<E extends IsElement = undefined, S extends ServiceName = undefined>({
  element: isElement,
  service: serviceName,
  answers,
  ...given
}: WorldOptions<E, S> = {}): Opened<E, S> {
  const [settings, options] = [settingsIn(given), optionsIn(given)];
  const open = (): object => {
    if (serviceName) return openAlice(isElement, settings, options);
    const service = new ScriptedService();
    if (answers?.length) service.answerAll(...answers);
    if (isElement) return openElement({ ...scriptedProperties(service, options), ...settings }, service);
    const [defaults, engineOptions] = scripted(service);
    return openEngine({ ...defaults, ...settings }, { ...engineOptions, ...options }, service);
  };
  return open() as Opened<E, S>;
}

/** Returns an engine with one file of three chunks: one chunk is stored, two are being sent. */
export async function halfWay(given: WorldOptions = {}): Promise<World> {
  const engine = world({ answers: ['open', 'presign'], ...given });
  await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
  (await engine.service.nextRequest('put')).answer();
  await engine.waitForChange('chunk-uploaded');
  await until(() => engine.service.waiting('put').length === 2);
  return engine;
}

/**
 * Returns a store with an upload of a closed page. One chunk of the upload is stored. If a store is given, the upload is added to
 * it: the closed page had another one, because it would have resumed what is in the store, and the first PUT could be of that.
 */
export async function createUnfinished(
  picked: PickedFile | File,
  { store, ...settings }: WorldOptions = {},
): Promise<UploadStore> {
  const own = newStore();
  const { service, uploader } = world({ answers: ['open', 'presign'], ...settings, store: own });
  const unfinished = async (): Promise<UploadRecord | undefined> =>
    (await own.list()).find(({ stored }) => stored.size === 1);
  await uploader.addFiles([picked]);
  (await service.nextRequest('put')).answer();
  await until(async () => (await unfinished()) !== undefined);
  await uploader.close();
  const record = await unfinished();
  if (!store || !record) return own;
  await store.save(record);
  await store.saveChunks(
    record.key,
    Array.from(record.stored, ([index, chunk]) => ({ index, ...chunk })),
  );
  return store;
}

/** Returns the engine's state as lines: files with their phases, rejections, sign-in, and browser calls. */
export function stateOf({ element, asked }: Stage): string[] {
  const { files, rejections, auth } = element.snapshot;
  return [
    ...files.map(({ name, phase, pauseReason }) => [name, phase, pauseReason].filter(Boolean).join(' ')),
    ...rejections.map(({ name }) => `${name} refused`),
    ...(auth.mode === 'none' ? [] : [`sign-in ${auth.state}`]),
    ...asked,
  ];
}

/** Waits like `until`. Rejects after the test has ended, so that a test that timed out does not disturb the next ones. */
export const untilOn = (element: Element, isTrue: () => boolean, says: () => string): Promise<void> =>
  until(() => {
    if (!element.isConnected) throw new Error('The test has ended');
    return isTrue();
  }, says);

/** Waits until the engine's state is `state`, then renders the element. If the state is never reached, the test times out. */
export async function reaches(stage: Stage, state: readonly string[]): Promise<void> {
  const states = (): string => `the state [${state.join(', ')}] instead of [${stateOf(stage).join(', ')}]`;
  await untilOn(stage.element, () => stateOf(stage).join() === state.join(), states);
  stage.element.requestUpdate();
  await stage.element.updateComplete;
}

/** Waits until the newest file named `name` is in `phase`. Resolves with the id of the file. */
export async function fileReaches({ element }: Stage, name: string, phase: string): Promise<string> {
  const newest = () => element.snapshot.files.findLast((each) => each.name === name);
  const phases = (): string => `${name} to be ${phase} instead of ${newest()?.phase}`;
  await untilOn(element, () => newest()?.phase === phase, phases);
  return newest()?.id ?? '';
}

// Creates an element with the real engine and a scripted service, and logs browser calls such as pickers and windows.

import { fixture, html } from '@open-wc/testing';
import { connect } from '../../src/engine/connection.ts';
import type { UploaderOptions } from '../../src/engine/uploader.ts';
import type { SettingsInput } from '../../src/index.ts';
import { createUploadStore } from '../../src/store/uploads.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import '../../src/define.ts';
import { settled } from '../support/collect.ts';
import { type Kind, ScriptedService } from '../support/scripted-service.ts';

export interface Stage {
  readonly element: SecureUploader;
  /** Log of browser calls, oldest first. */
  readonly asked: string[];
}

/** Stage whose service the test controls. */
export interface ScriptedStage extends Stage {
  readonly service: ScriptedService;
}

export interface StageSettings extends SettingsInput {
  readonly directory?: boolean;
  readonly disabled?: boolean;
}

const undo: (() => void)[] = [];

/** Restores the browser's pickers and windows; for `afterEach`. */
export function restoreBrowser(): void {
  for (const each of undo.splice(0)) each();
}

/** Replaces a property until `restoreBrowser` is called. */
export function replace<T extends object>(target: T, name: keyof T & string, value: unknown): void {
  const own = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  undo.push(() => {
    if (own) Object.defineProperty(target, name, own);
    else Reflect.deleteProperty(target, name);
  });
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

/** Creates an element. The service responds automatically to requests of the kinds in `answers`, and to no others. */
export async function setUp(
  answers: readonly Kind[],
  settings: StageSettings = {},
  options: UploaderOptions = {},
): Promise<ScriptedStage> {
  const service = new ScriptedService();
  if (answers.length > 0) service.answerAll(...answers);
  const asked: string[] = [];
  watchBrowser(asked);
  const element = await fixture<SecureUploader>(html`<secure-uploader></secure-uploader>`);
  Object.assign(element, {
    engineOptions: {
      policy: { attempts: 3, baseMs: 0, capMs: 0 },
      store: createUploadStore({ name: `test-${crypto.randomUUID()}` }),
      connect: (...given: Parameters<typeof connect>) => ({
        ...connect(...given),
        calls: service.calls,
        put: service.put,
      }),
      ...options,
    },
    baseUrl: `https://${crypto.randomUUID()}.test`,
    parentId: 'folder-a',
    auth: 'none',
    multiple: true,
    chunkSize: 1000,
    commitPath: '/commit',
    cancelPath: '/cancel',
    ...settings,
  });
  await element.updateComplete;
  return { element, service, asked };
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

/** Resolves like `settled`. Rejects after the test has ended, so that a test that timed out does not disturb the next ones. */
export async function settledOn(element: Element): Promise<void> {
  if (!element.isConnected) throw new Error('The test has ended');
  await settled();
}

/** Waits until the engine's state is `state`, then renders the element. If the state is never reached, the test times out. */
export async function reaches(stage: Stage, state: readonly string[]): Promise<void> {
  while (stateOf(stage).join() !== state.join()) await settledOn(stage.element);
  stage.element.requestUpdate();
  await stage.element.updateComplete;
}

/** Waits until the newest file named `name` is in `phase`. Resolves with the id of the file. */
export async function fileReaches({ element }: Stage, name: string, phase: string): Promise<string> {
  for (;;) {
    const file = element.snapshot.files.findLast((each) => each.name === name);
    if (file?.phase === phase) return file.id;
    await settledOn(element);
  }
}

// Commands of the element and of its buttons: calls of the engine, results and errors.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { Uploader } from '../../src/engine/uploader.ts';
import {
  type CommandHost,
  createCommands,
  createFrameCommands,
  type FrameHost,
} from '../../src/ui/button-commands.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import type { Commands } from '../../src/ui/views/state.ts';
import { type Deferred, deferred, rejection, settled } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { textFile } from './support.ts';

type Method =
  | Exclude<
      keyof Commands,
      | 'browse'
      | 'dismiss'
      | 'cancelSignIn'
      | 'signIn'
      | 'undo'
      | 'holdUndo'
      | 'dropRestored'
      | 'addInput'
      | 'tryAgain'
      | 'retryFiles'
      | 'chooseFolder'
      | 'cancelFolder'
    >
  | 'move'
  | 'signOut';

const file = textFile('a.txt');

/** Methods of the element, each with arguments for a call. */
const COMMANDS: Readonly<Record<Method, readonly unknown[]>> = {
  addFiles: [[file]],
  start: [],
  pause: ['id'],
  resume: ['id'],
  move: ['id', 'before'],
  cancel: ['id'],
  retry: ['id', 'b.txt'],
  remove: ['id'],
  clear: [],
  signOut: [],
};

type EngineMethod = Exclude<Method, 'signOut'> | 'endPeriod';
const prototype = Uploader.prototype as unknown as Record<
  EngineMethod,
  (...args: unknown[]) => Promise<void>
>;

/** Replaces a command of the engine while `act` runs. `answer` settles the command, and `asked` records its arguments. */
async function holding(
  method: Method,
  act: (answer: Deferred<void>, asked: readonly unknown[][]) => Promise<void>,
): Promise<void> {
  // A sign-out ends only the period in which the user has asked for it.
  const name = method === 'signOut' ? 'endPeriod' : method;
  const own = prototype[name];
  const answer = deferred();
  const asked: unknown[][] = [];
  prototype[name] = (...args) => {
    asked.push(args);
    return answer.promise;
  };
  try {
    await act(answer, asked);
  } finally {
    prototype[name] = own;
  }
}

const call = (element: SecureUploader, name: Method): Promise<void> =>
  (element[name] as (...args: readonly unknown[]) => Promise<void>)(...COMMANDS[name]);

describe('a command of the element', () => {
  for (const [name, args] of Object.entries(COMMANDS) as [Method, readonly unknown[]][])
    it(`${name} resolves when the engine is done, and rejects with its error`, async () => {
      const { element } = await world({ element: true, service: 'reference', manual: true });
      await holding(name, async (answer, asked) => {
        let isDone = false;
        const done = call(element, name).then(() => {
          isDone = true;
        });
        await settled();
        expect(isDone).to.equal(false);
        const period = localStorage.getItem('secure-uploader:period');
        expect(asked).to.deep.equal([name === 'signOut' ? [period] : args]);
        answer.resolve();
        await done;
      });
      await holding(name, async (answer) => {
        const failed = rejection(call(element, name));
        answer.reject(new Error('refused'));
        expect((await failed).message).to.equal('refused');
      });
    });

  it('rejects if the settings are invalid', async () => {
    const { error } = console;
    console.error = () => undefined;
    // `signOut` also deletes saved data; engine-controller.test.ts tests it.
    const { signOut: _signOut, ...commands } = COMMANDS;
    try {
      const { element } = await world({ element: true, service: 'reference', baseUrl: undefined });
      for (const name of Object.keys(commands) as Method[])
        expect((await rejection<UploaderError>(call(element, name))).code, name).to.equal('bad-config');
    } finally {
      console.error = error;
    }
  });

  it('remove without an id removes the element from the page', async () => {
    const { element } = await world({ element: true, service: 'reference' });
    expect(element.remove()).to.equal(undefined);
    expect(element.isConnected).to.equal(false);
  });
});

describe('a command of a button', () => {
  const calls: unknown[][] = [];
  const hostThat = (answer: () => Promise<void>): CommandHost & FrameHost =>
    new Proxy({} as CommandHost & FrameHost, {
      get:
        (_target, name) =>
        (...args: unknown[]) => {
          if (name === 'requestUpdate') return undefined;
          calls.push([name, ...args]);
          return answer();
        },
    });
  const CALLED: Partial<Record<keyof Commands, readonly unknown[]>> = {
    dismiss: ['dismissRejections'],
    cancel: ['withdraw', 'canceled', 'id'],
    remove: ['withdraw', 'removed', 'id'],
    holdUndo: ['hold', true],
  };
  const engine = {
    dismissRejections: () => calls.push(['dismissRejections']),
    cancelSignIn: () => calls.push(['cancelSignIn']),
    undo: { hold: (isHeld: boolean) => void calls.push(['hold', isHeld]) },
  };
  const own = {
    dropRestored: () => calls.push(['dropRestored']),
    tryAgain: () => calls.push(['tryAgain']),
    addInput: async (files: readonly File[]) => void calls.push(['addInput', files]),
  };
  /** Returns the commands of an element whose methods return `answer()`. */
  function commandsThat(answer: () => Promise<void>): Commands {
    const host = hostThat(answer);
    return createCommands(createFrameCommands(host, own), host, engine, {
      withdraw: (...args) => void calls.push(['withdraw', ...args]),
      undo: (...args) => void calls.push(['undo', ...args]),
      cancelFolder: (...args) => void calls.push(['cancelFolder', ...args]),
      chooseFolder: (path) => {
        calls.push(['chooseFolder', path]);
        return answer();
      },
      retryFiles: (ids) => {
        calls.push(['retryFiles', ids]);
        return answer();
      },
    });
  }
  const NAMES = {
    ...COMMANDS,
    browse: ['folder'],
    signIn: ['popup'],
    dismiss: [],
    cancelSignIn: [],
    undo: ['id'],
    holdUndo: [true],
    dropRestored: [],
    addInput: [[file]],
    tryAgain: [],
    retryFiles: [['id']],
    chooseFolder: ['photos/'],
    cancelFolder: ['photos/'],
  } as Readonly<Record<keyof Commands, readonly unknown[]>>;

  it('calls the method of its name, with its arguments', () => {
    const commands = commandsThat(() => Promise.resolve());
    for (const name of Object.keys(commands) as (keyof Commands)[]) {
      calls.length = 0;
      (commands[name] as (...args: readonly unknown[]) => void)(...NAMES[name]);
      expect(calls).to.deep.equal([CALLED[name] ?? [name, ...NAMES[name]]]);
    }
  });

  for (const [title, error, reported] of [
    ['does not report its own errors, which are already shown', new UploaderError('network', 'no line'), 0],
    ['reports any other error to the page', new TypeError('a defect'), 1],
  ] as const)
    it(title, async () => {
      const own = globalThis.reportError;
      const errors: unknown[] = [];
      globalThis.reportError = (each) => errors.push(each);
      try {
        commandsThat(() => Promise.reject(error)).pause();
        await settled();
        expect(errors).to.deep.equal(reported === 0 ? [] : [error]);
      } finally {
        globalThis.reportError = own;
      }
    });
});

// States of sign-in, each with its controls and their effects, tested with the real session and the reference service.

import type { AuthSnapshot, Snapshot } from '../../src/core/types.ts';
import { password } from '../auth/people.ts';
import { freshFile } from '../support/bytes.ts';
import { type FakeWindow, type Stage, untilOn, watchBrowser, world } from '../support/world.ts';
import { asks, CHOOSE, DISABLED, FIELD, type Situation } from './control-table.ts';
import { shown } from './support.ts';

const fixtures = new URL('../auth/fixtures/', import.meta.url).href;

/** On a slow machine, the hidden frame takes longer than its limit of 10 seconds. The states after it would never come. */
const TIMES = { closedGraceMs: 1, silentMs: 1e8, popupMs: 1e8 };

/** Creates an element without a signed-in user. Each opened window is the next of `windows`; the browser blocks further windows. */
async function setUp(settings: object, windows: readonly FakeWindow[]): Promise<Stage> {
  const asked: string[] = [];
  const left = [...windows];
  watchBrowser(asked, () => left.shift() ?? null);
  const { element } = await world({
    element: true,
    service: 'reference',
    auth: 'popup',
    silent: 'off',
    getToken: undefined,
    authorizePath: `${fixtures}authorize.html`,
    redirectUri: `${fixtures}secure-uploader-callback.html`,
    authOptions: { times: TIMES },
    ...settings,
  });
  element.addEventListener('auth-redirect', (event) => {
    event.preventDefault();
    asked.push('asked to leave the page');
  });
  return { element, asked };
}

/** Resolves when sign-in is in `state`; with `left`, in a later one than `left`. */
function signInReaches({ element }: Stage, state: string, left?: AuthSnapshot): Promise<void> {
  const isIn = ({ auth }: Snapshot): boolean => auth.state === state && auth !== left;
  return untilOn(
    element,
    () => isIn(element.snapshot),
    () => `sign-in ${state} instead of ${element.snapshot.auth.state}`,
  );
}

/** Returns a function that adds a file and waits until sign-in is in `state`. */
const waiting =
  (state: string, settings: object = {}, windows: readonly FakeWindow[] = []) =>
  async (): Promise<Stage> => {
    const stage = await setUp(settings, windows);
    await stage.element.addFiles(freshFile(100, 'a.txt'));
    await signInReaches(stage, state);
    return stage;
  };

/** Returns a function that adds a file and starts sign-in. `windows` creates the windows that the browser allows. */
const pressed =
  (windows: () => FakeWindow[] = () => []) =>
  async (): Promise<Stage> => {
    const stage = await waiting('prompt', {}, windows())();
    await stage.element.signIn();
    return stage;
  };

const newWindow = (closed = false): FakeWindow => ({ closed });

/** Returns a function that starts sign-in, with `exchange` as the service's response to the code, and waits for `state`. */
const exchanging = (state: string, exchange: () => Promise<object>): (() => Promise<Stage>) =>
  waiting(state, { silent: 'auto', authOptions: { adapter: { exchange }, times: TIMES } });

const IDPS = [
  { id: 'local', label: 'Staff', kind: 'local' },
  { id: 'guests', label: 'Guests', kind: 'local' },
  { id: 'corp', label: 'Corp', kind: 'federated' },
];

/** Returns a function that fills in the sign-in form and, with `sent`, submits the form and waits for the state `sent`. */
const form =
  (person: string, sent?: string, settings: object = {}) =>
  async (): Promise<Stage> => {
    const stage = await waiting('prompt', { auth: 'local', ...settings }, [newWindow()])();
    const found = await shown(() =>
      stage.element.querySelector<HTMLFormElement>('secure-uploader-login form'),
    );
    const entered = { email: `${person}@example.com`, password: await password() };
    for (const [name, value] of Object.entries(entered))
      (found.elements.namedItem(name) as HTMLInputElement).value = value;
    if (!sent) return stage;
    const { auth } = stage.element.snapshot;
    found.requestSubmit();
    await signInReaches(stage, sent, auth);
    await stage.element.querySelector('secure-uploader-login')?.updateComplete;
    return stage;
  };

const WAITS = 'a.txt paused signed-out';
const asked = (state: string, ...more: string[]): readonly string[] => [WAITS, `sign-in ${state}`, ...more];
/** Lines of a file that waits while the user answers a challenge, with sign-in in `state`. */
const challenged = (state: string): readonly string[] => ['a.txt paused challenge', `sign-in ${state}`];
const CANCEL_FILE = { 'Cancel: a.txt': ['a.txt canceled', 'sign-in prompt'] };
const START_OVER = { 'Start over': asked('prompt') };
const CREDENTIALS = {
  'Email address': FIELD,
  Password: FIELD,
  'Show password': { shows: 'Hide password' },
} as const;

export const SIGN_IN_SITUATIONS: readonly Situation[] = [
  {
    title: 'sign-in that is required',
    state: asked('prompt'),
    open: waiting('prompt', {}, [newWindow()]),
    controls: { ...CHOOSE, 'Sign in': asked('popup', 'window opened'), ...CANCEL_FILE },
  },
  {
    title: 'sign-in in a window',
    state: asked('popup', 'window opened'),
    open: pressed(() => [newWindow()]),
    controls: {
      ...CHOOSE,
      'Cancel sign-in': asked('prompt', 'window opened'),
      'Open again': asks('window focused'),
      'Cancel: a.txt': ['a.txt canceled', 'sign-in popup', 'window opened'],
    },
  },
  {
    title: 'sign-in in a window that may be closed',
    state: asked('popup-lost', 'window opened'),
    open: pressed(() => [newWindow(true), newWindow()]),
    controls: {
      ...CHOOSE,
      'Cancel sign-in': asked('prompt', 'window opened'),
      'Open again': asked('popup', 'window opened', 'window opened'),
      'Cancel: a.txt': ['a.txt canceled', 'sign-in popup-lost', 'window opened'],
    },
  },
  {
    title: 'sign-in whose window is blocked, with a file that would be lost',
    state: asked('prompt', 'window blocked'),
    open: pressed(),
    controls: {
      ...CHOOSE,
      'Try again': asks('window blocked'),
      'Cancel: a.txt': ['a.txt canceled', 'sign-in prompt', 'window blocked'],
    },
  },
  {
    title: 'sign-in whose window is blocked, with nothing to lose',
    state: ['sign-in prompt', 'window blocked'],
    open: async () => {
      const stage = await setUp({}, []);
      await stage.element.signIn();
      return stage;
    },
    controls: {
      ...CHOOSE,
      'Continue in this tab': asks('asked to leave the page'),
      'Try again': asks('window blocked'),
    },
  },
  {
    title: 'sign-in that leaves the page',
    state: asked('prompt'),
    open: waiting('prompt', { auth: 'redirect' }),
    controls: { ...CHOOSE, 'Sign in': asks('asked to leave the page'), ...CANCEL_FILE },
  },
  {
    title: 'sign-in whose code is being exchanged',
    state: ['a.txt hashing', 'sign-in exchange'],
    open: exchanging('exchange', () => new Promise(() => undefined)),
    controls: {
      ...CHOOSE,
      'Cancel sign-in': asked('prompt'),
      'Pause: a.txt': ['a.txt paused user', 'sign-in exchange'],
      'Cancel: a.txt': ['a.txt canceled', 'sign-in exchange'],
    },
  },
  {
    title: 'sign-in that waits for the service',
    state: ['a.txt paused rate-limited', 'sign-in cooling'],
    open: exchanging('cooling', async () => ({ status: 429, body: {}, retryAfterMs: 40_000 })),
    controls: {
      ...CHOOSE,
      'Cancel sign-in': asked('prompt'),
      'Cancel: a.txt': ['a.txt canceled', 'sign-in cooling'],
    },
  },
  {
    title: 'the sign-in form',
    state: asked('prompt'),
    open: form('tom', undefined, { idps: IDPS }),
    controls: {
      ...CHOOSE,
      ...CREDENTIALS,
      'Account type': FIELD,
      'Sign in': challenged('answer'),
      'Sign in with Corp': asked('popup', 'window opened'),
      ...CANCEL_FILE,
    },
  },
  {
    title: 'the sign-in form of an account that is locked',
    state: asked('prompt'),
    open: form('lou', 'prompt'),
    controls: { ...CHOOSE, ...CREDENTIALS, 'Sign in': DISABLED, ...CANCEL_FILE },
  },
  {
    title: 'the sign-in form if only a window helps',
    state: asked('prompt'),
    open: form('uma', 'prompt'),
    controls: {
      ...CHOOSE,
      ...CREDENTIALS,
      'Sign in': asked('prompt'),
      'Open sign-in window': asked('popup', 'window opened'),
      ...CANCEL_FILE,
    },
  },
  {
    title: 'the verification methods',
    state: challenged('choose'),
    open: form('mia', 'choose'),
    controls: {
      ...CHOOSE,
      'Code by email': challenged('answer'),
      'Code by text message': challenged('answer'),
      'Recovery code': challenged('answer'),
      ...START_OVER,
      'Cancel: a.txt': ['a.txt canceled', 'sign-in choose'],
    },
  },
];

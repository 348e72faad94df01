// What a user, the page, the service and the clock may do to uploads, as random commands.

import fc from 'fast-check';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { Uploader } from '../../src/engine/uploader.ts';
import { settled } from './collect.ts';
import { CHUNK_SIZES, type World } from './model.ts';
import { FILES, type Tab } from './model-tab.ts';

type Step = (world: World) => unknown;
interface Named {
  readonly text: string;
  readonly step: Step;
}

type Act = (uploader: Uploader, id: string, tab: Tab) => Promise<unknown>;

const HOURS = 3_600_000;
const tabNumber = fc.constantFrom(0, 0, 1);
const fileNumber = fc.nat(FILES.length - 1);

/** Returns a step that calls `act` with the uploader of a tab and the id of an upload. Without uploads, the step does nothing. */
const on = (at: number, index: number, act: Act): Step => {
  return (world) => {
    const tab = world.tabs[at % world.tabs.length] as Tab;
    const { uploader } = tab;
    const { files } = uploader.snapshot;
    const file = files[index % Math.max(1, files.length)];
    if (file) world.give(act(uploader, file.id, tab));
  };
};

const one = (name: string, act: Act): fc.Arbitrary<Named> =>
  fc.tuple(tabNumber, fileNumber).map(([at, index]) => ({
    text: `${name} ${index} in tab ${at}`,
    step: on(at, index, act),
  }));

const all = (name: string, act: (uploader: Uploader, tab: Tab) => unknown): fc.Arbitrary<Named> =>
  tabNumber.map((at) => ({
    text: `${name} in tab ${at}`,
    step: (world) => {
      const tab = world.tabs[at % world.tabs.length] as Tab;
      const given = act(tab.uploader, tab);
      if (given instanceof Promise) world.give(given);
    },
  }));

const settings: fc.Arbitrary<SettingsInput> = fc.record({
  concurrency: fc.constantFrom<('auto' | number)[]>('auto', 1, 2, 6),
  batchSize: fc.constantFrom(1, 64),
  chunkSize: fc.constantFrom(...CHUNK_SIZES),
  keepFiles: fc.boolean(),
  onConflict: fc.constantFrom('fail', 'rename'),
  manual: fc.constantFrom(false, false, true),
});

const add = fc.tuple(tabNumber, fc.array(fileNumber, { minLength: 1, maxLength: 3 })).map(
  ([at, indexes]): Named => ({
    text: `add ${indexes.map((index) => FILES[index]?.name)} in tab ${at}`,
    step: (world) => {
      const tab = world.tabs[at % world.tabs.length] as Tab;
      world.give(tab.addFiles(indexes.map((index) => FILES[index] as File)));
    },
  }),
);

const addNew = fc
  .tuple(
    tabNumber,
    fc.constantFrom('drive' as const, 'drive' as const, 'second' as const, 'plain' as const),
    fc.array(fc.constantFrom(700, 2500, 6000), { minLength: 1, maxLength: 5 }),
  )
  .map(
    ([at, kind, sizes]): Named => ({
      text: `add new files of ${sizes} bytes (${kind}) in tab ${at}`,
      step: (world) => world.addNew(world.tabs[at % world.tabs.length] as Tab, kind, sizes),
    }),
  );

/** Files that are added together, so that some of them share requests in a simulation with batches. */
const addMany: fc.Arbitrary<Named> = tabNumber.map((at) => ({
  text: `add many new files in tab ${at}`,
  step: (world) => world.addNew(world.tabs[at % world.tabs.length] as Tab, 'plain', Array(12).fill(700)),
}));

/** What lasts until the end of the simulation, while new files have to end without help. */
const weather: fc.Arbitrary<Named> = fc.constantFrom<Named[]>(
  { text: 'the second storage is silent', step: ({ service }) => Object.assign(service, { isSilent: true }) },
  { text: 'the second storage responds', step: ({ service }) => Object.assign(service, { isSilent: false }) },
  { text: 'silent PUTs stall', step: ({ service }) => service.stall() },
  { text: 'the drive is away', step: ({ drive }) => Object.assign(drive, { isAway: true }) },
  { text: 'the drive is back', step: ({ drive }) => Object.assign(drive, { isAway: false }) },
  { text: 'the network changes', step: (world) => world.changeNetwork() },
  {
    text: 'the network changes during 20 PUTs',
    step: ({ service }) => Object.assign(service, { cutCount: 20 }),
  },
  { text: 'sessions are lost', step: ({ service }) => service.loseSessions() },
  {
    text: 'sessions are lost for three calls',
    step: ({ service }) => Object.assign(service, { forgetfulCount: 3 }),
  },
  {
    text: 'sessions live for two chunks',
    step: ({ service }) => Object.assign(service, { sessionLifeChunks: 2 }),
  },
  {
    text: 'sessions live on',
    step: ({ service }) => Object.assign(service, { sessionLifeChunks: Number.POSITIVE_INFINITY }),
  },
  ...(['arrives', 'lost', 'lost-with-session'] as const).map((commitAnswer) => ({
    text: `responses to commits: ${commitAnswer}`,
    step: ({ service }: World) => Object.assign(service, { commitAnswer }),
  })),
);

/** Random commands; frequent ones have a higher weight. */
export const anyCommand: fc.Arbitrary<Named> = fc.oneof(
  { weight: 5, arbitrary: add },
  { weight: 3, arbitrary: addNew },
  { weight: 1, arbitrary: addMany },
  { weight: 8, arbitrary: weather },
  { weight: 2, arbitrary: one('pause', (uploader, id) => uploader.pause(id)) },
  { weight: 2, arbitrary: one('resume', (uploader, id) => uploader.resume(id)) },
  { weight: 2, arbitrary: one('cancel', (uploader, id) => uploader.cancel(id)) },
  { weight: 2, arbitrary: one('retry', (uploader, id) => uploader.retry(id)) },
  { weight: 2, arbitrary: one('remove', (uploader, id) => uploader.remove(id)) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('canceled' as const, 'removed' as const)
      .chain((next) => one(`withdraw (${next})`, (uploader, id) => uploader.undo.withdraw(next, [id]))),
  },
  { weight: 1, arbitrary: one('undo', (uploader, id) => uploader.undo.undo(id)) },
  { weight: 1, arbitrary: all('complete', (uploader) => uploader.undo.complete()) },
  { weight: 1, arbitrary: one('prioritize', (uploader, id) => uploader.prioritize(id)) },
  { weight: 1, arbitrary: one('move', (uploader, id) => uploader.move(id)) },
  {
    weight: 2,
    arbitrary: one('provide', (uploader, id, tab) => {
      const row = uploader.snapshot.files.find((file) => file.id === id);
      return tab.provide(id, FILES.find(({ name }) => name === row?.relativePath) ?? (FILES[1] as File));
    }),
  },
  { weight: 1, arbitrary: all('pause all', (uploader) => uploader.pause()) },
  { weight: 1, arbitrary: all('resume all', (uploader) => uploader.resume()) },
  { weight: 1, arbitrary: all('retry all', (uploader) => uploader.retry()) },
  { weight: 1, arbitrary: all('clear', (uploader) => uploader.clear()) },
  { weight: 1, arbitrary: all('suspend', (uploader) => uploader.suspend()) },
  { weight: 2, arbitrary: all('restore', (uploader) => uploader.restore()) },
  {
    weight: 2,
    arbitrary: fc.tuple(tabNumber, settings).map(([at, given]) => ({
      text: `configure tab ${at} ${JSON.stringify(given)}`,
      step: (world: World) => {
        const tab = world.tabs[at % world.tabs.length] as Tab;
        tab.configure(given);
      },
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(tabNumber, fc.constantFrom('', 'ann', 'bob')).map(([at, owner]) => ({
      text: `the owner in tab ${at} is '${owner}'`,
      step: (world: World) => {
        const tab = world.tabs[at % world.tabs.length] as Tab;
        tab.configure({ owner });
      },
    })),
  },
  { weight: 1, arbitrary: all('sign out', (_uploader, tab) => tab.signOut()) },
  { weight: 1, arbitrary: all('sign in', (uploader) => uploader.signIn()) },
  { weight: 1, arbitrary: all('allow sign-in', (uploader) => uploader.allowSignIn()) },
  {
    weight: 1,
    arbitrary: fc.boolean().map((isSignedIn) => ({
      text: isSignedIn ? 'the page has tokens' : 'the page has no token',
      step: (world: World) => {
        world.isSignedIn = isSignedIn;
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(tabNumber, fc.boolean()).map(([at, hasTokens]) => ({
      text: `tab ${at} ${hasTokens ? 'sets' : 'removes'} getToken`,
      step: (world: World) => {
        const tab = world.tabs[at % world.tabs.length] as Tab;
        tab.setTokens(hasTokens);
        tab.configure();
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 8, 40).map((rounds) => ({
      text: `tokens take ${rounds} rounds`,
      step: (world: World) => {
        world.tokenRounds = rounds;
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 8, 40).map((rounds) => ({
      text: `reads take ${rounds} rounds`,
      step: (world: World) => {
        world.readRounds = rounds;
      },
    })),
  },
  {
    weight: 2,
    arbitrary: fc.boolean().map((isOffline) => ({
      text: isOffline ? 'the page is offline' : 'the page is online',
      step: (world: World) => world.setOffline(isOffline),
    })),
  },
  {
    weight: 1,
    arbitrary: tabNumber.map((at) => ({
      text: `reload tab ${at}`,
      step: (world: World) => world.reload(at),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((isTab) => ({
      text: isTab ? 'another tab' : 'another uploader on the page',
      step: (world: World) => {
        if (world.tabs.length < 2) world.open(isTab ? undefined : world.tabs[0]?.page);
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(-2, 2).map((hours) => ({
      text: `the clock jumps by ${hours} hours`,
      step: (world: World) => world.jump(hours * HOURS),
    })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(0, 0.1, 0.4, 1).map((rate) => ({
      text: `${rate * 100} % of the calls get no response`,
      step: (world: World) => {
        world.faultRate = rate;
      },
    })),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, 4, 16).map((rounds) => ({
      text: `${rounds} rounds pass`,
      step: async () => {
        for (let round = 0; round < rounds; round += 1) await settled();
      },
    })),
  },
);

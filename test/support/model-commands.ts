// What a user, the page, the service and the clock may do to uploads, as random commands.

import fc from 'fast-check';
import type { SettingsInput, Uploader } from '../../src/engine/uploader.ts';
import { settled } from './collect.ts';
import type { World } from './model.ts';
import { CHUNK_SIZES, FILES, type Tab } from './model-tab.ts';

type Step = (world: World) => unknown;
interface Named {
  readonly text: string;
  readonly step: Step;
}

const HOURS = 3_600_000;
const tabNumber = fc.constantFrom(0, 0, 1);
const fileNumber = fc.nat(FILES.length - 1);

/** Returns a step that calls `act` with the uploader of a tab and the id of an upload. Without uploads, the step does nothing. */
const on = (at: number, index: number, act: (uploader: Uploader, id: string) => Promise<unknown>): Step => {
  return (world) => {
    const { uploader } = world.tabs[at % world.tabs.length] as Tab;
    const { files } = uploader.snapshot;
    const file = files[index % Math.max(1, files.length)];
    if (file) world.give(act(uploader, file.id));
  };
};

const one = (name: string, act: (uploader: Uploader, id: string) => Promise<unknown>): fc.Arbitrary<Named> =>
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
  concurrency: fc.constantFrom(1, 2, 6),
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

/** Random commands; frequent ones have a higher weight. */
export const anyCommand: fc.Arbitrary<Named> = fc.oneof(
  { weight: 5, arbitrary: add },
  { weight: 2, arbitrary: one('pause', (uploader, id) => uploader.pause(id)) },
  { weight: 2, arbitrary: one('resume', (uploader, id) => uploader.resume(id)) },
  { weight: 2, arbitrary: one('cancel', (uploader, id) => uploader.cancel(id)) },
  { weight: 2, arbitrary: one('retry', (uploader, id) => uploader.retry(id)) },
  { weight: 2, arbitrary: one('remove', (uploader, id) => uploader.remove(id)) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('canceled' as const, 'removed' as const)
      .chain((next) =>
        one(`withdraw (${next})`, (uploader, id) => uploader.apply({ type: 'withdraw', next }, [id])),
      ),
  },
  { weight: 1, arbitrary: one('undo', (uploader, id) => uploader.apply({ type: 'undo' }, [id])) },
  { weight: 1, arbitrary: one('complete', (uploader, id) => uploader.apply({ type: 'complete' }, [id])) },
  { weight: 1, arbitrary: one('prioritize', (uploader, id) => uploader.prioritize(id)) },
  { weight: 1, arbitrary: one('move', (uploader, id) => uploader.move(id)) },
  {
    weight: 2,
    arbitrary: one('provide', (uploader, id) => {
      const row = uploader.snapshot.files.find((file) => file.id === id);
      return uploader.provide(id, FILES.find(({ name }) => name === row?.relativePath) ?? (FILES[1] as File));
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
        tab.input = { ...tab.input, ...given };
        tab.uploader.configure(tab.input);
      },
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(tabNumber, fc.constantFrom('', 'ann', 'bob')).map(([at, owner]) => ({
      text: `the owner in tab ${at} is '${owner}'`,
      step: (world: World) => {
        const tab = world.tabs[at % world.tabs.length] as Tab;
        tab.input = { ...tab.input, owner };
        tab.uploader.configure(tab.input);
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
        tab.uploader.configure(tab.input);
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

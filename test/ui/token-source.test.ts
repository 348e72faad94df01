// The `token` property: when a token is used, replaced and deleted.

import { expect } from '@open-wc/testing';
import { TokenSource, takeEarlyToken } from '../../src/ui/token-source.ts';
import { tokenOf } from '../service/reference.ts';
import { rejection, settled, until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { nextEvent, textFile } from './support.ts';

const { signal } = new AbortController();

/** Resolves with the value of `promise`, or with `waits` if the promise stays pending. */
const now = (promise: unknown): Promise<unknown> => Promise.race([promise, settled().then(() => 'waits')]);

describe('a token that the page sets', () => {
  for (const [title, steps, expected] of [
    ['is returned again for the next page load of the engine', ['first', 'first'], ['one', 'one']],
    ['is not returned again once it expired', ['first', 'expired'], ['one', 'waits']],
    [
      'is not returned again once it was refused',
      ['first', 'rejected', 'rejected'],
      ['one', 'waits', 'waits'],
    ],
    ['is returned even if the one before it was refused', ['rejected'], ['one']],
  ] as const)
    it(title, async () => {
      const source = new TokenSource();
      source.set('one');
      const given: unknown[] = [];
      for (const reason of steps) given.push(await now(source.getToken(reason, signal)));
      expect(given).to.deep.equal(expected);
    });

  it('is returned to all waiting callers', async () => {
    const source = new TokenSource();
    const waiting = [source.getToken('first', signal), source.getToken('first', signal)];
    expect(await now(waiting[0])).to.equal('waits');
    source.set('one');
    expect(await Promise.all(waiting)).to.deep.equal(['one', 'one']);
  });

  it('is awaited after a refusal, and the next refusal waits for another one', async () => {
    const source = new TokenSource();
    source.set('one');
    await source.getToken('first', signal);
    for (const next of ['two', 'three']) {
      const waiting = source.getToken('rejected', signal);
      expect(await now(waiting)).to.equal('waits');
      source.set(next);
      expect(await waiting).to.equal(next);
    }
  });

  it('is deleted by `clear`', async () => {
    const source = new TokenSource();
    source.set('one');
    source.clear();
    expect(await now(source.getToken('first', signal))).to.equal('waits');
  });

  it('is not awaited after an abort', async () => {
    const stop = new AbortController();
    const waiting = rejection(new TokenSource().getToken('first', stop.signal) as Promise<unknown>);
    stop.abort(new Error('gone'));
    expect((await waiting).message).to.equal('gone');
  });

  it('is read from an element that was not yet defined, as the only property', () => {
    const host = { token: 'early', other: 1 };
    expect(takeEarlyToken(host)).to.equal('early');
    expect(host).to.deep.equal({ other: 1 });
    expect(takeEarlyToken(host)).to.equal(undefined);
  });

  it('is not given any more after it is cleared', async () => {
    const source = new TokenSource();
    source.set('one');
    source.clear();
    expect(await now(source.getToken('first', signal))).to.equal('waits');
  });

  it('belongs to one owner: another one gets it only if it was set with the change', async () => {
    const source = new TokenSource();
    const tokenFor = (owner: string): Promise<unknown> => {
      source.assign(owner);
      return now(source.getToken('first', signal));
    };
    source.set('of-ann');
    expect(await tokenFor(''), 'the owner may be set later').to.equal('of-ann');
    expect(await tokenFor('ann')).to.equal('of-ann');
    expect(await tokenFor('bob')).to.equal('waits');
    source.set('of-bob');
    expect(await tokenFor('bob')).to.equal('of-bob');
    source.set('of-cleo');
    expect(await tokenFor('cleo')).to.equal('of-cleo');
  });

  it('is not used again after signing out', async () => {
    const { element } = await world({ element: true, service: 'reference', getToken: undefined });
    element.token = await tokenOf('alice');
    await element.updateComplete;
    const finished = nextEvent(element, 'uploads-finished');
    await element.addFiles(textFile('before.txt'));
    await finished;
    await element.signOut();
    await element.addFiles(textFile('after.txt'));
    await until(() => element.snapshot.auth.state === 'prompt');
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['paused']);
  });

  it('is replaced by `getToken`, and does not come back when that is removed', async () => {
    const { element } = await world({ element: true, service: 'reference', getToken: undefined });
    element.token = await tokenOf('alice');
    await element.updateComplete;
    element.getToken = () => new Promise(() => undefined);
    await element.updateComplete;
    element.getToken = undefined;
    await element.updateComplete;
    await element.addFiles(textFile('later.txt'));
    await until(() => element.snapshot.auth.state === 'prompt');
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['paused']);
  });
});

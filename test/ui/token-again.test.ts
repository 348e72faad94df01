// A `getToken` that fails for a while, in the real element with the reference service: the user does not have to click.

import { expect } from '@open-wc/testing';
import type { Change } from '../../src/core/changes.ts';
import { tokenOf } from '../service/reference.ts';
import { speedUp } from '../support/clock.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { nextEvent, textFile } from './support.ts';

describe('a getToken that fails', () => {
  it('leaves its button with the focus while it is called again, and the upload ends without a click', async () => {
    let token: string | undefined;
    let callCount = 0;
    const { element } = await world({
      element: true,
      service: 'reference',
      getToken: () => {
        callCount += 1;
        if (token === undefined) throw new Error('the server of the page is down');
        return token;
      },
      authOptions: { times: { coolMaxMs: 20 } },
    });
    let failureCount = 0;
    element.addEventListener('auth-failed', () => {
      failureCount += 1;
    });
    const root = element.shadowRoot as ShadowRoot;
    const button = (): HTMLElement | null => root.querySelector('[data-action="sign-in"]');
    const finished = nextEvent(element, 'uploads-finished');
    await element.addFiles(textFile('a.txt'));
    await until(() => button() !== null);
    const shown = button() as HTMLElement;
    expect([element.snapshot.auth.state, callCount]).to.deep.equal(['prompt', 3]);
    shown.focus();
    await until(() => callCount > 8);
    expect([button(), root.activeElement]).to.deep.equal([shown, shown]);
    expect(failureCount).to.equal(1);
    token = await tokenOf('alice');
    await finished;
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['done']);
    expect(button()).to.equal(null);
  });

  it('during an outage that outlasts the token shows no button, and the upload ends', async () => {
    speedUp(10);
    const { fetch } = globalThis;
    const token = await tokenOf('alice');
    const states: string[] = [];
    let callCount = 0;
    let isAway = true;
    const { element } = await world({
      element: true,
      service: 'reference',
      getToken: () => {
        callCount += 1;
        if (callCount > 1 && isAway) throw new Error('503');
        return { token, expires_at: Date.now() + (callCount === 1 ? 5100 : 600_000) };
      },
      authOptions: { times: { coolBaseMs: 100, coolMaxMs: 100 } },
    });
    element.addEventListener(
      'auth-changed',
      ({ detail }: CustomEvent<Extract<Change, { name: 'auth-changed' }>['detail']>) =>
        states.push(detail.state),
    );
    const finished = nextEvent(element, 'uploads-finished');
    try {
      globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
      await element.addFiles(textFile('a.txt'));
      await until(() => callCount > 12);
    } finally {
      globalThis.fetch = fetch;
    }
    expect(states).not.to.contain('prompt');
    isAway = false;
    await finished;
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['done']);
    expect(states).not.to.contain('prompt');
  });

  it('because the property `token` is invalid is called a second after the page has set another one', async () => {
    speedUp(10);
    const { element } = await world({
      element: true,
      service: 'reference',
      getToken: undefined,
      authOptions: { times: { coolMaxMs: 600_000 } },
    });
    element.token = 'two words';
    await element.updateComplete;
    const finished = nextEvent(element, 'uploads-finished');
    await element.addFiles(textFile('a.txt'));
    await until(() => element.snapshot.auth.state === 'prompt');
    expect(element.snapshot.auth.error?.code).to.equal('token-malformed');
    element.token = await tokenOf('alice');
    await finished;
    expect(element.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['done']);
  });
});

// The code for spans and reports, which is loaded on demand: how long uploads wait for it.

import { expect } from '@open-wc/testing';
import { CurrentUser } from '../../src/core/user.ts';
import { createLateTrace } from '../../src/engine/late-trace.ts';
import { deferred, settled } from '../support/collect.ts';
import { world } from '../support/world.ts';

describe('a trace whose code hangs', () => {
  it('holds up the first uploads, and no later ones', async () => {
    const { timeout } = AbortSignal;
    const deadlines: AbortController[] = [];
    const { promise: never } = deferred<never>();
    const { signal } = new AbortController();
    try {
      AbortSignal.timeout = () => {
        deadlines.push(new AbortController());
        return deadlines.at(-1)?.signal as AbortSignal;
      };
      const trace = createLateTrace(
        { snapshot: world().uploader.snapshot, onChange: () => () => undefined },
        new CurrentUser(),
        undefined,
        () => never,
      );
      void trace.load();
      let readyCount = 0;
      const run = (): Promise<void> =>
        trace.ready(signal).then(() => {
          readyCount += 1;
        });
      const first = [run(), run()];
      await settled();
      expect(readyCount).to.equal(0);
      deadlines[0]?.abort();
      await Promise.all(first);
      await Promise.race([run(), settled()]);
      expect(readyCount).to.equal(3);
    } finally {
      AbortSignal.timeout = timeout;
    }
  });
});

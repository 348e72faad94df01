// An announcer and what it says, for tests of announcements.

import type { Change } from '../../src/core/changes.ts';
import { ENGLISH, type Snapshot } from '../../src/index.ts';
import { Announcer } from '../../src/ui/announcer.ts';
import { createFormat } from '../../src/ui/format.ts';

/** Creates an announcer with short delays, and records its texts in order. */
export function listen(state: Snapshot): {
  announcer: Announcer;
  host: { snapshot: Snapshot };
  said: string[];
  /** Resolves directly after the announcement number `count`: the next one may follow in 20 ms. */
  hear(count: number): Promise<void>;
} {
  const said: string[] = [];
  const heard = new Set<Node>();
  let wake = (): void => undefined;
  const host = {
    snapshot: state,
    texts: ENGLISH,
    format: createFormat('en'),
    requestUpdate: () => {
      for (const node of Object.values(announcer.spoken)) {
        if (!node || heard.has(node)) continue;
        heard.add(node);
        said.push(node.textContent ?? '');
      }
      wake();
    },
  };
  const announcer = new Announcer(host, { sumsEveryMs: 20, gatherMs: 5 });
  const hear = async (count: number): Promise<void> => {
    while (said.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { announcer, host, said, hear };
}

export const change = <K extends Change['name']>(name: K, detail: object): Change =>
  ({ name, detail }) as Change;
export const started = (id: string): Change =>
  change('upload-started', { id, chunkCount: 1, resumedBytes: 0 });
export const failed = (name: string): Change =>
  change('upload-failed', { id: name, name, code: 'network', retryable: true });

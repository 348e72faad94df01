// Pools of hash workers for tests, closed after each test.

import type { HashSlice } from '../../src/core/types.ts';
import { HashPool, type HashPoolOptions } from '../../src/pipeline/hash-pool.ts';

export const forever = new AbortController().signal;
export const ascii = (text: string): Blob => new Blob([text]);

const pools: HashPool[] = [];

/** Creates a pool of one worker, which is closed after the test. */
export function createPool(options: Partial<HashPoolOptions> = {}): HashPool {
  const pool = new HashPool({ algorithm: 'sha-256', size: 1, ...options });
  pools.push(pool);
  return pool;
}

/** Creates a pool whose workers run `script`. */
export function poolOf(script: string, options: Partial<HashPoolOptions> = {}): HashPool {
  return createPool({ workerUrl: urlOf(script), ...options });
}

/** Returns a URL on this page's origin that serves `script`. */
export const urlOf = (script: string): string => `/test-script.js?text=${encodeURIComponent(script)}`;

/**
 * Returns the script of a worker. The first response contains the slice's size instead of a hash; `then` handles later messages.
 */
export const oneGood = (then: string): string => `
  let count = 0;
  onmessage = ({ data }) => {
    count += 1;
    if (count === 1) postMessage({ id: data.id, hash: 'size ' + data.slice.size });
    else { ${then} }
  };
  postMessage('ready');`;

afterEach(() => {
  for (const pool of pools.splice(0)) pool.close();
});

export const hashOf = async (hashSlice: HashSlice, slice: Blob): Promise<string> =>
  (await hashSlice(slice, { keepBytes: false, signal: forever })).hash;

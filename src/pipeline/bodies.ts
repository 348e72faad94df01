// What is sent as the body of a chunk. Chromium sends the slice, which needs no memory: it detects itself if the file has changed.
// Other browsers send the bytes that were hashed, from memory.

import type { HashSlice } from '../core/types.ts';
import { ByteBudget } from './hash.ts';

/** Memory budget of the page for chunks that are hashed and not yet sent. */
const PAGE_POOL = { freeBytes: 64 * 2 ** 20 };
/** `PresignParts.eagerBytes`, if bodies are in memory. */
const EAGER_BYTES = 16 * 2 ** 20;
/** `PresignParts.eagerBytes`, if slices are sent. Larger batches would leave slots idle while more chunks are hashed. */
const EAGER_SLICED_BYTES = 64 * 2 ** 20;

export interface Bodies {
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  readonly eagerBytes: number;
  /** True if the browser refuses to send a file that changed since it was picked. */
  readonly isWatched: boolean;
}

interface BrandedNavigator {
  readonly userAgentData?: {
    readonly brands?: readonly { readonly brand: string }[];
    readonly platform?: string;
  };
}

/**
 * True in Chromium, which refuses to send a slice of a file whose modification time changed since it was picked. Firefox sends the
 * changed bytes, and WebKit hangs.
 */
export function canSendSlices(
  navigator: BrandedNavigator = globalThis.navigator as BrandedNavigator,
): boolean {
  return navigator?.userAgentData?.brands?.some(({ brand }) => brand === 'Chromium') ?? false;
}

/** Creates the parameters of one run, from the `hashSlice` of the pool. */
export function createBodies(
  hashSlice: HashSlice,
  isSliced: boolean = canSendSlices(),
  { userAgentData }: BrandedNavigator = globalThis.navigator as BrandedNavigator,
): Bodies {
  if (!isSliced)
    return { hashSlice, budget: new ByteBudget(PAGE_POOL), eagerBytes: EAGER_BYTES, isWatched: false };
  return {
    hashSlice: async (slice, { keepBytes, signal }) => {
      const { hash } = await hashSlice(slice, { keepBytes: false, signal });
      return keepBytes ? { hash, body: slice } : { hash };
    },
    budget: new ByteBudget({ freeBytes: Number.MAX_SAFE_INTEGER }),
    eagerBytes: EAGER_SLICED_BYTES,
    // A file of an Android content provider has no modification time for Chromium to compare.
    isWatched: userAgentData?.platform !== 'Android',
  };
}

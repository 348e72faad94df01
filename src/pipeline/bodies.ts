// In what form a chunk's bytes travel. Where the browser itself notices that a file changed under a slice of it, the slice is
// sent: it costs no memory, however far hashing runs ahead. Elsewhere the very bytes that were hashed are kept and sent.

import type { HashSlice } from '../core/types.ts';
import { ByteBudget } from './hash.ts';

/** Memory of the page for chunks that are hashed and wait for a slot. */
const PAGE_POOL = { freeBytes: 64 * 2 ** 20 };
/** On a fast line a call for this many bytes costs less than reading them again later. */
const EAGER_BYTES = 16 * 2 ** 20;
/** Where nothing has to be read again, it costs less than slots that stand idle while more is hashed. */
const EAGER_SLICED_BYTES = 64 * 2 ** 20;

export interface Bodies {
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  readonly eagerBytes: number;
  /** The browser itself refuses a file that changed. */
  readonly isWatched: boolean;
}

interface BrandedNavigator {
  readonly userAgentData?: {
    readonly brands?: readonly { readonly brand: string }[];
    readonly platform?: string;
  };
}

/**
 * True in Chromium, which refuses to send a slice of a file whose time has changed since it was picked. WebKit hangs on
 * slices, and Firefox sends whatever is there now.
 */
export function canSendSlices(
  navigator: BrandedNavigator = globalThis.navigator as BrandedNavigator,
): boolean {
  return navigator?.userAgentData?.brands?.some(({ brand }) => brand === 'Chromium') ?? false;
}

/** The form for one run, over the pool's `hashSlice`. */
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

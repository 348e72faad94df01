// Selects the body of a PUT. In Chromium it is the slice of the file, which needs no memory: the browser itself detects a file that
// changed. In other browsers it is a copy of the hashed bytes, in memory.

import type { HashSlice } from '../core/types.ts';
import { ByteBudget } from './hash.ts';

/** Memory for hashed chunks that are not being sent yet, shared by all uploads on the page. */
const PAGE_POOL = { freeBytes: 64 * 2 ** 20 };
/** `PresignParts.eagerBytes` if bodies are in memory. */
const EAGER_BYTES = 16 * 2 ** 20;
/** `PresignParts.eagerBytes` if slices are sent. With larger batches, slots would be idle while more chunks are hashed. */
const EAGER_SLICED_BYTES = 64 * 2 ** 20;

export interface Bodies {
  readonly hashSlice: HashSlice;
  readonly budget: ByteBudget;
  readonly eagerBytes: number;
  /** True if the browser refuses to send a file that has changed since it was picked. */
  readonly isWatched: boolean;
}

interface BrandedNavigator {
  readonly userAgentData?: {
    readonly brands?: readonly { readonly brand: string }[];
    readonly platform?: string;
  };
}

/**
 * True in Chromium, which refuses to send a slice of a file whose modification time has changed since it was picked. Firefox would
 * send the changed bytes, and WebKit would hang.
 */
export function canSendSlices(
  navigator: BrandedNavigator = globalThis.navigator as BrandedNavigator,
): boolean {
  return navigator?.userAgentData?.brands?.some(({ brand }) => brand === 'Chromium') ?? false;
}

/** Creates the parameters of one run; `hashSlice` is the function of the hash pool. */
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
    // Files from an Android content provider have no modification time that Chromium could compare.
    isWatched: userAgentData?.platform !== 'Android',
  };
}

// Selects the body of a PUT. Chromium sends slices of the file, which need no memory. Other browsers send a copy of the hashed
// bytes.

import type { HashSlice } from '../core/types.ts';
import { ByteBudget } from './hash.ts';
import type { RunParts } from './run.ts';

/** Memory for hashed chunks that are not being sent yet. All uploads on the page share this memory. */
const PAGE_POOL = { freeBytes: 64 * 2 ** 20 };
/** Value of `PresignParts.eagerBytes` if bodies are in memory. */
const EAGER_BYTES = 16 * 2 ** 20;
/** Value of `PresignParts.eagerBytes` if slices are sent. With a larger value, slots would be idle while chunks are hashed. */
const EAGER_SLICED_BYTES = 64 * 2 ** 20;

interface BrandedNavigator {
  readonly userAgentData?: {
    readonly brands?: readonly { readonly brand: string }[];
    readonly platform?: string;
  };
}

/**
 * Returns true in Chromium. Chromium refuses to send a slice if the modification time of the file has changed since the file was
 * picked. Firefox would send the changed bytes, and WebKit would hang.
 */
export function canSendSlices(
  navigator: BrandedNavigator = globalThis.navigator as BrandedNavigator,
): boolean {
  return navigator?.userAgentData?.brands?.some(({ brand }) => brand === 'Chromium') ?? false;
}

/**
 * Creates the body parameters of one run. `hashSlice` is the function of the hash pool. `isWatched` is true if the browser refuses
 * to send a file that has changed since it was picked.
 */
export function createBodies(
  hashSlice: HashSlice,
  isSliced: boolean = canSendSlices(),
  { userAgentData }: BrandedNavigator = globalThis.navigator as BrandedNavigator,
): Pick<RunParts, 'hashSlice' | 'copySlice' | 'budget' | 'eagerBytes' | 'isWatched'> {
  if (!isSliced)
    return { hashSlice, budget: new ByteBudget(PAGE_POOL), eagerBytes: EAGER_BYTES, isWatched: false };
  const isAndroid = userAgentData?.platform === 'Android';
  return {
    // Files of a content provider may be readable for the page, but not for the network.
    ...(isAndroid && { copySlice: hashSlice }),
    hashSlice: async (slice, { keepBytes, ...options }) => {
      const { hash } = await hashSlice(slice, { ...options, keepBytes: false });
      return keepBytes ? { hash, body: slice } : { hash };
    },
    budget: new ByteBudget({ freeBytes: Number.MAX_SAFE_INTEGER }),
    eagerBytes: EAGER_SLICED_BYTES,
    // On Android, files of a content provider have no modification time that Chromium could compare.
    isWatched: !isAndroid,
  };
}

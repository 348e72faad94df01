// For `credentials` in hooks.ts: keeps keys that change, such as those of a role, or of a user whose keys are replaced.
import { kindOf, log, within } from './log.ts';
import type { Keys } from './settings.ts';

type Use = 'service' | 'urls';
interface Entry {
  keys?: Keys;
  readAt: number;
  reading?: Promise<unknown> | undefined;
}

/** Keys that end sooner are read again. Longer than a URL is valid. */
const EARLY_MS = 600_000;
/** Between two attempts to read keys that end soon, and others, which may be replaced before their end or have none. */
const PAUSE_MS = { soon: 1000, later: 60_000 };

/**
 * Returns `credentials` for a function that reads keys. Those are used until they end, also while the next ones can't be read.
 * `read` must end: limit the time of its requests.
 */
export function keptKeys(read: (use: Use) => Promise<Keys>): (use: Use) => Promise<Keys> {
  const entries: Record<Use, Entry> = { service: { readAt: 0 }, urls: { readAt: 0 } };
  const endOf = ({ keys }: Entry) => keys?.expiresAt?.getTime() ?? (keys ? Number.POSITIVE_INFINITY : 0);
  return async (use) => {
    const own = entries[use];
    const pauseMs = endOf(own) - Date.now() > EARLY_MS ? PAUSE_MS.later : PAUSE_MS.soon;
    if (!own.reading && Date.now() >= own.readAt + pauseMs) {
      own.readAt = Date.now();
      own.reading = within('hook', 'credentials', () => read(use))
        .then((keys) => Object.assign(own, { keys }))
        .catch((error) => log({ level: 'error', ...kindOf(error) }))
        .finally(() => Object.assign(own, { reading: undefined }));
    }
    if (endOf(own) <= Date.now()) await own.reading;
    if (!own.keys) throw Object.assign(new Error('there are no keys of the store'), { code: 'NO_KEYS' });
    return own.keys;
  };
}

// Rate limits: requests per client, authorization codes and messages per user. The counters are in memory only, so that rejected
// requests cause no disk writes. attempts.ts counts wrong passwords and codes.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from './clock.ts';
import type { RateLimit, Settings } from './options.ts';
import { Refusal } from './refusal.ts';

/** All rate limits: `code` and `message` per user, the others per client. */
export type Limits = Record<'token' | 'login' | 'challenge' | 'code' | 'message', Limit>;

export interface Limit {
  /** Counts a request. Throws a 429 refusal with `Retry-After` above the limit. */
  count(key: string): Promise<void>;
}

export function createLimits({ rateLimit, messageLimit }: Settings, clock: Clock): Limits {
  const times = (factor: number): Limit =>
    createLimit({ ...rateLimit, requests: rateLimit.requests * factor }, clock);
  return {
    token: times(1),
    login: times(3),
    challenge: times(12),
    code: times(6),
    message: createLimit(messageLimit, clock),
  };
}

/** Creates a limit whose time windows use the service's clock. */
export function createLimit({ requests, windowMs }: RateLimit, clock: Clock): Limit {
  const create = (): RateLimiterMemory =>
    new RateLimiterMemory({ points: requests, duration: windowMs / 1000 });
  let limiter = create();
  let offsetMs = clock.offsetMs;
  return {
    async count(key) {
      if (clock.offsetMs !== offsetMs) {
        limiter = shifted(limiter, create(), clock.offsetMs - offsetMs);
        offsetMs = clock.offsetMs;
      }
      try {
        await limiter.consume(key);
      } catch (result) {
        if (!(result instanceof RateLimiterRes)) throw result;
        const waitS = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
        throw new Refusal(429, 'rate_limited', 'too many requests', {
          headers: { 'retry-after': String(waitS) },
        });
      }
    },
  };
}

// The library uses the system clock, which tests cannot shift. Instead, `shifted` moves the ends of the library's time windows.
function shifted(from: RateLimiterMemory, to: RateLimiterMemory, byMs: number): RateLimiterMemory {
  const dump = from.dump();
  for (const record of dump.storage) if (record.expiresAt !== null) record.expiresAt -= byMs;
  to.restore(dump);
  return to;
}

export type ReadClient = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Returns a function that finds the client's IP address. For requests of a trusted proxy, that is the last address in
 * `X-Forwarded-For` that is not a trusted proxy; otherwise it is the remote address. Throws if an entry of `trustedProxies` is
 * neither an IP address nor a network such as `10.0.0.0/8`.
 */
export function createReadClient(trustedProxies: readonly string[]): ReadClient {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (!isIP(address) || rest.length > 0)
      throw new Error(`trustedProxies: not an address or network: ${entry}`);
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string): boolean => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (remoteAddress = '', forwardedFor = '') => {
    let client = plainAddress(remoteAddress);
    const hops = forwardedFor.split(',').map((hop) => plainAddress(hop.trim()));
    while (isIP(client) && isTrusted(client)) {
      const hop = hops.pop();
      if (hop === undefined || !isIP(hop)) break;
      client = hop;
    }
    return groupOf(client);
  };
}

// A dual-stack socket reports IPv4 clients as IPv4-mapped IPv6 addresses.
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

// An IPv6 client usually has a whole /64 network, so all addresses of a /64 network share one counter.
function groupOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

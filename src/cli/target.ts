// Where chunks may be sent. The upload URLs come from the service that is checked, which must not make this command call other
// servers, such as those of the network that it runs in.

import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { checkHeaders, checkMethod, checkUploadUrl } from '../service/ticket-checks.ts';
import { Skip } from './finding.ts';
import type { Options } from './options.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

const typeOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** Addresses by their kind; the first match counts. What is in no list is `reserved`, too. */
const NETWORKS = {
  'link-local': ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::/32'],
  loopback: ['0.0.0.0/8', '127.0.0.0/8', '::/127'],
  private: ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  // Of the global addresses, those for other purposes: an address of IPv6 may have one of IPv4 in it.
  reserved: [
    ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24'],
    ...['203.0.113.0/24', '224.0.0.0/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
  ],
  global: ['0.0.0.0/0', '2000::/3'],
};

const LISTS = Object.entries(NETWORKS).map(([kind, networks]) => {
  const list = new BlockList();
  for (const network of networks) {
    const [net = '', bits] = network.split('/');
    list.addSubnet(net, Number(bits), typeOf(net));
  }
  return [kind, list] as const;
});

const kindOf = ({ address }: Address): string =>
  LISTS.find(([, list]) => list.check(address, typeOf(address)))?.[0] ?? 'reserved';

const resolve = (url: string): Promise<Address> => lookup(new URL(url).hostname.replace(/^\[|\]$/g, ''));

/** A request to the storage as a page would send it, and the address that was checked. */
export interface Target {
  readonly target: Address;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Resolves with the request for an entry. Throws `Skip` if the uploader would refuse URL, method or headers, or if the host is on a
 * network of this machine: unless the service is on the same kind of network, or `--upload-origins` names the origin. Reserved
 * addresses must be named. Link-local ones are always refused, because services of clouds give away credentials there.
 */
export async function targetOf(
  url: string,
  { baseUrl, uploadOrigins, authHeader }: Options,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Target> {
  try {
    checkUploadUrl(url, { baseUrl, uploadOrigins, authHeader });
    const method = checkMethod(fields.method);
    const headers = headersOf(fields.headers, authHeader);
    const { origin } = new URL(url);
    const target = await resolve(url);
    const kind = kindOf(target);
    const isNear = async () => kind !== 'reserved' && kind === kindOf(await resolve(baseUrl));
    const mayCall = kind === 'global' || uploadOrigins.includes(origin) || (await isNear());
    if (kind === 'link-local' || !mayCall)
      throw new Error(`${origin} has the ${kind} address ${target.address}; see --upload-origins`);
    return { target, method, headers };
  } catch (error) {
    throw new Skip(`nothing was sent: ${(error as Error).message}`);
  }
}

/** Headers that browsers set, and that pages cannot set. */
const OF_BROWSERS = new RegExp(
  '^(?:accept-(?:charset|encoding)|access-control-request-.*|connection|cookie2?|date|dnt|expect|' +
    'keep-alive|origin|referer|set-cookie|te|trailer|transfer-encoding|upgrade|via)$',
);

/** Returns the headers of an entry as a page sends them. Throws an error for a header that a page must not or cannot send. */
export function headersOf(value: unknown, authHeader: string): Record<string, string> {
  const headers = checkHeaders(value, { baseUrl: '', uploadOrigins: [], authHeader });
  const reserved = Object.keys(headers).find((name) => OF_BROWSERS.test(name));
  if (reserved) throw new Error(`browsers do not send the header "${reserved}"`);
  return headers;
}

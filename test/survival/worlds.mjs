// The worlds of the benchmark, with all their parameters, so that others can argue with the numbers. A number has a source, or a
// reason why we chose it.
const MB = 1e6;

/** Sample data of Android phones: 45 stalls, 50 connections that could not be set up, 9 times out of service. */
const PHONES =
  'https://github.com/CellularReliability/CellularReliability.github.io, sample_dataset (2021), read on 30 November 2026';
/** More than 20 % of the connections of stationary nodes were unavailable for more than 10 minutes a day. We read the abstract only. */
const STATIONARY =
  'Baltrunas et al., IMC 2014, https://www.simula.no/publications/measuring-reliability-mobile-broadband-networks';

/**
 * A length with this median in milliseconds; a `sigma` of 1 makes the 90th percentile 3.6 times as long. Nothing is longer than
 * `mostMs`.
 */
const around = (medianMs, sigma, mostMs) => ({ medianMs, sigma, mostMs });
const fixed = (lengthMs) => around(lengthMs, 0, lengthMs);
const AT_ONCE = fixed(0);

/** What all worlds share, unless they say otherwise. */
const common = {
  sizeBytes: 20 * MB,
  bytesPerSecond: 1 * MB,
  latencyMs: 40,
  firstEventMs: 1500,
  meanGapMs: 8000,
  lastEventMs: 90_000,
  deadlineMs: 240_000,
  tokenLifetimeMs: 5 * 60_000,
  urlLifetimeMs: 60_000,
};
const COMMON_BECAUSE = {
  'size, rate':
    'chosen by us, because 20 s without a fault are long enough for several faults, and short enough for many journeys',
  latency: 'chosen by us, because it is usual on mobile networks and to another country',
  'gap between events':
    'chosen by us, because a journey of a minute then has about five of them; the time between two is exponential',
  'last event':
    'chosen by us, because every client gets a line that works in the end; the deadline is two and a half minutes later',
  lifetimes:
    'chosen by us, because URLs of S3 and tokens that live for minutes are usual, and they should expire in some journeys',
};

/**
 * Worlds by name. `events` lists the kinds (kinds.mjs), how often each comes in relation to the others (`weight`), how long it lasts,
 * and why we think so (`because`).
 */
export const worlds = {
  train: {
    ...common,
    about: 'a phone or a laptop on a train: dead zones, changes of the network, an app that is put away',
    because: {
      ...COMMON_BECAUSE,
      'weights of stall, outage, offline': `45, 50 and 9 as stalls, setup errors and out of service in ${PHONES}`,
    },
    events: {
      stall: {
        weight: 30,
        length: around(2400, 2.3, 60_000),
        because: `median and spread of 24 distinct stalls in ${PHONES}`,
      },
      'stall-dead': {
        weight: 15,
        length: around(2400, 2.3, 60_000),
        because: 'the same; chosen by us, because a third of stalls may end in another network',
      },
      outage: {
        weight: 50,
        length: around(6000, 1, 60_000),
        because: 'length chosen by us, because the data has none',
      },
      offline: {
        weight: 9,
        length: around(10_000, 1, 60_000),
        because: 'length chosen by us, because a tunnel of 500 m at 180 km/h takes 10 s',
      },
      slow: {
        weight: 15,
        length: around(8000, 0.8, 40_000),
        because: 'chosen by us, because 2G and crowded cells carry about 50 kB/s',
      },
      sleep: {
        weight: 6,
        length: around(15_000, 0.7, 60_000),
        because: 'chosen by us, because phones freeze pages that are put away',
      },
      reload: {
        weight: 4,
        length: AT_ONCE,
        because: 'chosen by us, because phones drop pages that were put away',
      },
      crash: {
        weight: 2,
        length: AT_ONCE,
        because: 'chosen by us, because a page without memory ends like this',
      },
    },
  },
  cafe: {
    ...common,
    about: 'a shared Wi-Fi with a portal',
    because: {
      ...COMMON_BECAUSE,
      weights: 'chosen by us, because we found no data; every kind should come in a few journeys',
    },
    events: {
      cut: { weight: 20, length: AT_ONCE, because: 'chosen by us, because laptops change access points' },
      stall: { weight: 15, length: around(2400, 2.3, 60_000), because: `as in the train (${PHONES})` },
      slow: {
        weight: 20,
        length: around(8000, 0.8, 40_000),
        because: 'chosen by us, because others share the line',
      },
      'portal-page': {
        weight: 6,
        length: around(10_000, 0.7, 60_000),
        because: 'chosen by us, because a user needs 10 s to accept terms',
      },
      'portal-redirect': { weight: 4, length: around(10_000, 0.7, 60_000), because: 'the same' },
      'portal-tls': {
        weight: 6,
        length: around(10_000, 0.7, 60_000),
        because: 'the same; what https meets at a portal',
      },
      offline: {
        weight: 8,
        length: around(6000, 1, 60_000),
        because: 'chosen by us, because a Wi-Fi that is joined again takes seconds',
      },
      sleep: {
        weight: 6,
        length: around(15_000, 0.7, 60_000),
        because: 'chosen by us, because lids are closed',
      },
      reload: {
        weight: 5,
        length: AT_ONCE,
        because: 'chosen by us, because users reload a page that seems to hang',
      },
      tabs: {
        weight: 4,
        length: fixed(5000),
        because: 'chosen by us, because users open the page again to look',
      },
    },
  },
  home: {
    ...common,
    about: 'a bad line at home',
    because: {
      ...COMMON_BECAUSE,
      'weights of cut, outage': `chosen by us, because unavailable lines are what is known of stationary nodes (${STATIONARY})`,
    },
    events: {
      cut: {
        weight: 30,
        length: AT_ONCE,
        because: 'chosen by us, because routers drop connections when the line is synchronized again',
      },
      outage: {
        weight: 30,
        length: around(6000, 1, 90_000),
        because: 'chosen by us, because a modem needs seconds to a minute',
      },
      stall: {
        weight: 15,
        length: around(2400, 2.3, 60_000),
        because: `as in the train, for want of other data (${PHONES})`,
      },
      slow: {
        weight: 15,
        length: around(8000, 0.8, 40_000),
        because: 'chosen by us, because an uplink is shared',
      },
      reload: {
        weight: 5,
        length: AT_ONCE,
        because: 'chosen by us, because users reload a page that seems to hang',
      },
      crash: { weight: 2, length: AT_ONCE, because: 'chosen by us, because it happens, but seldom' },
      restart: { weight: 3, length: AT_ONCE, because: 'chosen by us, because browsers restart for updates' },
    },
  },
  office: {
    ...common,
    about: 'an office with a proxy that takes whole bodies before it sends them, and servers that are busy',
    // The line to the proxy. Behind the proxy, all requests share `proxy.bytesPerSecond`.
    bytesPerSecond: 10 * MB,
    proxy: { bytesPerSecond: 1 * MB, cutAfterMs: 60_000 },
    urlLifetimeMs: 20_000,
    tokenLifetimeMs: 30_000,
    because: {
      ...COMMON_BECAUSE,
      proxy: 'chosen by us, because 60 s are the default of nginx and of load balancers',
      weights: 'chosen by us, because we found no data; every kind should come in a few journeys',
    },
    events: {
      '5xx': {
        weight: 20,
        length: around(4000, 1, 60_000),
        because: 'chosen by us, because a deployment takes seconds',
      },
      '5xx-unreadable': {
        weight: 15,
        length: around(4000, 1, 60_000),
        because: 'the same, from a gateway that sends no CORS headers',
      },
      429: { weight: 8, length: fixed(4000), because: 'chosen by us, because limits count in seconds' },
      '429-unreadable': {
        weight: 6,
        length: fixed(4000),
        because: 'the same, from a gateway that sends no CORS headers',
      },
      full: {
        weight: 8,
        length: around(8000, 0.7, 60_000),
        because: 'chosen by us, because space is freed by a job or an operator',
      },
      'lost-session': {
        weight: 6,
        length: AT_ONCE,
        because: 'chosen by us, because a service that is restored forgets',
      },
      cut: { weight: 15, length: AT_ONCE, because: 'chosen by us, because proxies are restarted' },
      'stall-dead': {
        weight: 10,
        length: around(4000, 1, 60_000),
        because: 'chosen by us, because firewalls forget connections',
      },
      reload: {
        weight: 5,
        length: AT_ONCE,
        because: 'chosen by us, because users reload a page that seems to hang',
      },
      restart: { weight: 3, length: AT_ONCE, because: 'chosen by us, because computers restart for updates' },
    },
  },
  classic: {
    ...common,
    about: 'the faults of our first measurement (28 November 2026), so that it can be repeated',
    meanGapMs: 6000,
    urlLifetimeMs: 20_000,
    tokenLifetimeMs: 30_000,
    because: { all: 'chosen by us, before we had looked for data; kept so that figures can be compared' },
    events: {
      cut: { weight: 30, length: AT_ONCE },
      outage: { weight: 20, length: around(6000, 1, 90_000) },
      'stall-dead': { weight: 18, length: around(8000, 0.8, 60_000) },
      '5xx': { weight: 5, length: around(4000, 1, 60_000) },
      '5xx-unreadable': { weight: 5, length: around(4000, 1, 60_000) },
      429: { weight: 8, length: fixed(4000) },
      'portal-page': { weight: 4, length: around(10_000, 0.7, 60_000) },
      reload: { weight: 7, length: AT_ONCE },
      crash: { weight: 3, length: AT_ONCE },
    },
  },
};

/** Returns the worlds with these names, each with its `name`. Throws on an unknown name. */
export function chooseWorlds(names) {
  return names.map((name) => {
    if (!Object.hasOwn(worlds, name))
      throw new Error(`no world "${name}"; there are ${Object.keys(worlds).join(', ')}`);
    return { name, ...worlds[name] };
  });
}

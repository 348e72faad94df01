// The worlds of the benchmark, with all their parameters, so that others can argue with the numbers. A number has a source, or a
// reason why we chose it.
const MB = 1e6;

const ours = (reason) => `chosen by us, because ${reason}`;
/** Sample data of Android phones: 45 stalls, 50 connections that could not be set up, 9 times out of service. */
const PHONES =
  'https://github.com/CellularReliability/CellularReliability.github.io, sample_dataset, read on 30 November 2026';
/**
 * More than 20 % of the connections of stationary nodes were unavailable for more than 10 minutes a day. We read the abstract only.
 */
const STATIONARY =
  'Baltrunas et al., IMC 2014, https://www.simula.no/publications/measuring-reliability-mobile-broadband-networks';

/**
 * A length with this median in milliseconds; a `sigma` of 1 makes the 90th percentile 3.6 times as long. Nothing is longer than
 * `mostMs`.
 */
const around = (medianMs, sigma, mostMs) => ({ medianMs, sigma, mostMs });
const fixed = (lengthMs) => around(lengthMs, 0, lengthMs);
const AT_ONCE = fixed(0);
/**
 * 24 distinct stalls of the phones have a median of 2.5 s, a 90th percentile of 280 s and a logarithm with a spread of 2.3 to 2.8.
 */
const STALL = around(2400, 2.3, 60_000);
const OUTAGE = around(6000, 1, 60_000);
const SLOW = around(8000, 0.8, 40_000);
const PORTAL = around(10_000, 0.7, 60_000);
const SLEEP = around(15_000, 0.7, 60_000);
const BUSY = around(4000, 1, 60_000);

/** How often a kind comes in relation to the others (`weight`), how long it lasts, and why we think so. */
const event = (weight, length, because) => ({ weight, length, because });

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
  'size, rate': ours('20 s without a fault have room for several faults, and many journeys can run'),
  latency: ours('it is usual on mobile networks and to another country'),
  gaps: ours('a journey of a minute then has about five events; gaps are exponential'),
  'last event': ours('every client gets a line that works in the end, and has 150 s then'),
  lifetimes: ours('minutes are usual for tokens and URLs of S3, and some should expire'),
};
const NO_DATA = ours('we found no data; every kind should come in a few journeys');

/** Worlds by name. `events` lists the kinds (kinds.mjs). */
export const worlds = {
  train: {
    ...common,
    about: 'a phone or a laptop on a train: dead zones, changes of the network, an app that is put away',
    because: {
      ...COMMON_BECAUSE,
      'weights of stall, outage, offline': `45, 50 and 9 as stalls, setup errors and out of service in ${PHONES}`,
    },
    events: {
      stall: event(30, STALL, PHONES),
      'stall-dead': event(15, STALL, ours('a third of stalls may end in another network')),
      outage: event(50, OUTAGE, ours('the data has no lengths of setup errors')),
      offline: event(9, around(10_000, 1, 60_000), ours('a tunnel of 500 m at 180 km/h takes 10 s')),
      slow: event(15, SLOW, ours('2G and crowded cells carry about 50 kB/s')),
      sleep: event(6, SLEEP, ours('phones stop apps that are put away')),
      reload: event(4, AT_ONCE, ours('phones drop pages that were put away')),
      crash: event(2, AT_ONCE, ours('a page without memory ends like this')),
    },
  },
  cafe: {
    ...common,
    about: 'a shared Wi-Fi with a portal',
    because: { ...COMMON_BECAUSE, weights: NO_DATA },
    events: {
      cut: event(20, AT_ONCE, ours('laptops change access points')),
      stall: event(15, STALL, `as in the train, for want of other data: ${PHONES}`),
      slow: event(20, SLOW, ours('others share the line')),
      'portal-page': event(6, PORTAL, ours('a user needs 10 s to accept terms')),
      'portal-redirect': event(4, PORTAL, ours('a user needs 10 s to accept terms')),
      'portal-tls': event(6, PORTAL, ours('this is what https meets at a portal')),
      offline: event(8, OUTAGE, ours('a Wi-Fi that is joined again takes seconds')),
      sleep: event(6, SLEEP, ours('lids are closed')),
      reload: event(5, AT_ONCE, ours('users reload a page that seems to hang')),
      tabs: event(4, fixed(5000), ours('users open the page again to look')),
    },
  },
  home: {
    ...common,
    about: 'a bad line at home',
    because: { ...COMMON_BECAUSE, weights: `${NO_DATA}; unavailable lines are known: ${STATIONARY}` },
    events: {
      cut: event(30, AT_ONCE, ours('routers drop connections when the line is synchronized again')),
      outage: event(30, around(6000, 1, 90_000), ours('a modem needs seconds to a minute')),
      stall: event(15, STALL, `as in the train, for want of other data: ${PHONES}`),
      slow: event(15, SLOW, ours('an uplink is shared')),
      reload: event(5, AT_ONCE, ours('users reload a page that seems to hang')),
      crash: event(2, AT_ONCE, ours('it happens, but seldom')),
      restart: event(3, AT_ONCE, ours('browsers restart for updates')),
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
      proxy: ours('60 s are the default of nginx and of load balancers'),
      weights: NO_DATA,
    },
    events: {
      '5xx': event(20, BUSY, ours('a deployment takes seconds')),
      '5xx-unreadable': event(15, BUSY, ours('gateways send errors without CORS headers')),
      429: event(8, fixed(4000), ours('limits count in seconds')),
      '429-unreadable': event(6, fixed(4000), ours('gateways send errors without CORS headers')),
      full: event(8, around(8000, 0.7, 60_000), ours('space is freed by a job or an operator')),
      'lost-session': event(6, AT_ONCE, ours('a service that is restored forgets')),
      cut: event(15, AT_ONCE, ours('proxies are restarted')),
      'stall-dead': event(10, BUSY, ours('firewalls forget connections')),
      reload: event(5, AT_ONCE, ours('users reload a page that seems to hang')),
      restart: event(3, AT_ONCE, ours('computers restart for updates')),
    },
  },
  classic: {
    ...common,
    about: 'the faults of our first measurement (28 November 2026), so that it can be repeated',
    meanGapMs: 6000,
    urlLifetimeMs: 20_000,
    tokenLifetimeMs: 30_000,
    because: { all: ours('this was before we had looked for data') },
    events: {
      cut: event(30, AT_ONCE),
      outage: event(20, around(6000, 1, 90_000)),
      'stall-dead': event(18, around(8000, 0.8, 60_000)),
      '5xx': event(5, BUSY),
      '5xx-unreadable': event(5, BUSY),
      429: event(8, fixed(4000)),
      'portal-page': event(4, PORTAL),
      reload: event(7, AT_ONCE),
      crash: event(3, AT_ONCE),
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

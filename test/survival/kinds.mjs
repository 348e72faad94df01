// The kinds of events: what each does to the line, to the gate in front of the servers, and to the browser. README.md describes
// them.

/** The rate that the line falls to. */
const SLOW_BYTES_PER_SECOND = 50_000;

const statusOf = ({ choice }) => [500, 502, 503][Math.floor(choice * 3)];

/** An event during which the gate responds in place of the servers, also to preflights if `isUnreadable`. */
const refusal = (responseOf, isStruck = () => true) => ({
  begin({ gate }, event) {
    const response = responseOf(event);
    gate.fault = (name, request) => {
      if (request.method === 'OPTIONS' && !response.isUnreadable) return undefined;
      return isStruck(name, request) ? response : undefined;
    };
  },
  end({ gate }) {
    gate.fault = undefined;
  },
});

const onLine = (begin) => ({ begin, end: ({ line }) => line.open() });

const carriesFile = (name, { method }) => name === 'storage' && (method === 'PUT' || method === 'PATCH');

/** Each kind has `begin(world, event)`, and `end(world, event)` if it lasts. Both may return a promise. */
export const KINDS = {
  cut: { begin: ({ line }) => line.cut() },
  outage: onLine(({ line }) => line.refuse()),
  stall: onLine(({ line }) => line.stall()),
  'stall-dead': onLine(({ line }) => line.stall({ isFinal: true })),
  offline: {
    begin({ line, visit }) {
      line.refuse();
      return visit.setOnline(false);
    },
    end({ line, visit }) {
      line.open();
      return visit.setOnline(true);
    },
  },
  slow: {
    begin({ line, visit }) {
      line.setRate(SLOW_BYTES_PER_SECOND);
      return visit.setRate(SLOW_BYTES_PER_SECOND);
    },
    end({ line, visit, bytesPerSecond }) {
      line.setRate(bytesPerSecond);
      return visit.setRate(bytesPerSecond);
    },
  },
  '5xx': refusal((event) => ({ status: statusOf(event), body: { debuginfo: 'busy' } })),
  '5xx-unreadable': refusal((event) => ({
    status: statusOf(event),
    body: 'Bad gateway',
    isUnreadable: true,
  })),
  429: refusal(() => ({
    status: 429,
    headers: { 'retry-after': '2' },
    body: { debuginfo: 'too many requests' },
  })),
  '429-unreadable': refusal(() => ({ status: 429, headers: { 'retry-after': '2' }, isUnreadable: true })),
  full: refusal(() => ({ status: 507, body: { debuginfo: 'the storage is full' } }), carriesFile),
  'portal-page': refusal(() => ({
    body: '<!doctype html><title>Accept the terms</title>',
    isUnreadable: true,
  })),
  'portal-redirect': refusal(({ choice }) => ({
    status: [302, 307][Math.floor(choice * 2)],
    // No request to a host of this name leaves the machine (RFC 2606).
    headers: { location: 'http://portal.invalid/' },
    isUnreadable: true,
  })),
  'portal-tls': onLine(({ line }) => line.answerForeign()),
  'lost-session': { begin: ({ gate }) => gate.loseSessions() },
  sleep: {
    begin({ line, visit }) {
      line.stall();
      visit.sleep();
    },
    end({ line, visit }) {
      line.cut();
      line.open();
      visit.wake();
    },
  },
  reload: { begin: ({ visit }) => visit.reload() },
  crash: { begin: ({ visit }) => visit.crash() },
  restart: { begin: ({ visit }) => visit.restart() },
  tabs: { begin: ({ visit }) => visit.openBeside(), end: ({ visit }) => visit.closeBeside() },
};

// The page that a client runs in. The bench opens a new page for each run and calls `prepare` (sets up a client), then `run`
// (times it).
import { tusJs, upchunk, uppyS3, uppyTus } from './peers.js';
import { pipeMem, rawBalanced, rawBalancedInWorker, rawBatched, rawParallel } from './raw.js';
import { readSlowly } from './slow-files.js';
import { widget } from './widget.js';

const clients = {
  'secure-uploader': widget,
  'secure-uploader@service': widget,
  'secure-uploader@fast-disk': widget,
  'secure-uploader@picker': widget,
  'secure-uploader@batches': widget,
  'secure-uploader@compared': widget,
  'raw-parallel': rawParallel,
  'pipe-mem': pipeMem,
  'raw-balanced': rawBalanced,
  'raw-balanced@worker': rawBalancedInWorker,
  'raw-batched': rawBatched,
  'uppy-s3': uppyS3,
  'uppy-tus': uppyTus,
  'tus-js': tusJs,
  upchunk,
};

// Returns a function from a path to a URL on the storage. With `sign: 'call'`, the function requests each URL from the service.
const createAddress = ({ service, storage, token, sign }) => {
  if (sign !== 'call') return (path) => storage + path;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return async (path) => {
    const answer = await fetch(`${service}/sign`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ path }),
    });
    if (!answer.ok) throw new Error(`signing: status ${answer.status}`);
    return (await answer.json()).url;
  };
};

// Measures how long the page's thread is blocked: tasks of 50 ms or longer, as the browser reports them, and gaps between frames.
// Gaps also show shorter tasks, but include the load of other processes.
function watchThread() {
  let longestTaskMs = 0;
  let blockedMs = 0;
  let longestGapMs = 0;
  const take = (entries) => {
    for (const { duration } of entries) {
      longestTaskMs = Math.max(longestTaskMs, duration);
      blockedMs += duration - 50;
    }
  };
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ type: 'longtask' });
  let lastFrame = performance.now();
  let frame = requestAnimationFrame(function onFrame(now) {
    longestGapMs = Math.max(longestGapMs, now - lastFrame);
    lastFrame = now;
    frame = requestAnimationFrame(onFrame);
  });
  return () => {
    cancelAnimationFrame(frame);
    take(observer.takeRecords());
    observer.disconnect();
    return { longestTaskMs, blockedMs, longestGapMs };
  };
}

// Blocks the page's thread as a heavy application does. Returns a function that ends this.
function keepBusy({ taskMs, everyMs }) {
  const timer = setInterval(() => {
    const end = performance.now() + taskMs;
    while (performance.now() < end);
  }, everyMs);
  return () => clearInterval(timer);
}

let files;
let slowFiles;
let upload;

window.bench = {
  names: Object.keys(clients),
  async prepare(name, place) {
    files = [...document.querySelector('input').files];
    slowFiles = files.filter(({ size }) => place.slow.some(({ sizeBytes }) => size === sizeBytes));
    for (const { sizeBytes, readBytesPerSecond } of place.slow)
      readSlowly(
        files.filter(({ size }) => size === sizeBytes),
        readBytesPerSecond,
      );
    upload = await clients[name]({ ...place, slowFiles, address: createAddress(place) });
  },
  async run({ stopAfterMs, busy }) {
    const stopped = stopAfterMs
      ? new Promise((resolve) => setTimeout(resolve, stopAfterMs, true))
      : undefined;
    const stopWatching = watchThread();
    const rest = busy && keepBusy(busy);
    const start = performance.now();
    const isStopped = (await Promise.race([upload(files), stopped].filter(Boolean))) === true;
    const durationMs = performance.now() - start;
    rest?.();
    // The browser reports a long task only after the next task has started.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { durationMs, isStopped, startedAt: performance.timeOrigin + start, ...stopWatching() };
  },
};

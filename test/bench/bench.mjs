// Runs the scenarios of profiles.mjs, each with its own simulated service and storage (the sink). In each round, every client runs
// in turn, each in a separate browser. Then prints and saves the results.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBrowser } from './browser.mjs';
import { makeFiles } from './files.mjs';
import { servePage } from './page-server.mjs';
import { chooseProfiles, parseSize } from './profiles.mjs';
import { figuresOf, legend, rowsOf, tableOf, withResults } from './report.mjs';
import { hasService, startService } from './service.mjs';
import { startSink } from './sink.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const DOCS = join(here, '../../docs/performance.md');
const RUN_LIMIT_MS = 15 * 60_000;
const WITH_SERVICE = '@service';
const WITH_FAST_DISK = '@fast-disk';
const WITH_PICKER = '@picker';
/** Time in which a user chooses files. */
const CHOOSING_MS = 1000;
const COMPARED = 'secure-uploader@compared';

/** Runs what the command line requested. Returns the exit status: 1 if a run of the widget failed, 2 for an invalid option. */
export async function bench(options) {
  let plans;
  try {
    plans = plan(options);
  } catch (error) {
    console.error(error.message);
    return 2;
  }
  const withWidget = plans.some(({ clients }) => clients.some(isOurs));
  const page = await servePage({ withWidget, dist: options.dist, compare: options.compare });
  const results = [];
  try {
    for (const profile of plans) results.push(await runProfile(profile, page));
  } finally {
    await page.stop();
  }
  console.log(`\n${legend}`);
  const path = options.json ?? join(here, 'results/latest.json');
  mkdirSync(dirname(path), { recursive: true });
  const all = { ...describeMachine(results), profiles: results };
  writeFileSync(path, `${JSON.stringify(all, undefined, 2)}\n`);
  console.log(`\nAs JSON: ${path}`);
  if (options.docs) writeFileSync(DOCS, withResults(readFileSync(DOCS, 'utf8'), all));
  return results.some(({ rows }) => rows.some(({ client, failed }) => isOurs(client) && failed)) ? 1 : 0;
}

const isOurs = (client) => client.startsWith('secure-uploader');

function plan({ profiles, rounds, clients, size, files, quick, compare, trace }) {
  const wanted = clients?.split(',').map((name) => name.trim());
  const count = Number(rounds ?? (quick ? 1 : 3));
  if (!Number.isInteger(count) || count < 1) throw new Error(`--rounds=${rounds} is no whole number above 0`);
  return chooseProfiles(profiles).map((chosen) => {
    const profile = compare ? { ...chosen, clients: [COMPARED, ...chosen.clients] } : chosen;
    const sizeBytes = size
      ? parseSize(size)
      : Math.min(profile.files.sizeBytes, quick ? 128e6 : Number.POSITIVE_INFINITY);
    const fileCount = Number(files ?? Math.min(profile.files.count, quick ? 60 : Number.POSITIVE_INFINITY));
    const unknown = wanted?.filter((name) => !profile.clients.includes(name)) ?? [];
    if (unknown.length) {
      throw new Error(
        `${profile.name} has no client ${unknown.join(', ')}; it has ${profile.clients.join(', ')}`,
      );
    }
    return {
      ...profile,
      rounds: count,
      trace,
      clients: wanted ?? profile.clients,
      files: { ...profile.files, count: fileCount, sizeBytes },
    };
  });
}

const groupsOf = ({ files, beside = [] }) => [...beside, files];

/** Returns the number and the bytes of the files that a run has to upload. */
function timedFiles(profile) {
  const groups = groupsOf(profile).filter(({ readBytesPerSecond }) => !readBytesPerSecond);
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  return { count, totalBytes: groups.reduce((sum, group) => sum + group.count * group.sizeBytes, 0) };
}

async function runProfile(profile, page) {
  const { count, sizeBytes } = profile.files;
  const clients = profile.clients.filter((name) => canRun(name, page));
  console.log(
    `\n${profile.name}: ${profile.about} (${count} x ${sizeBytes / 1e6} MB, ${profile.rounds} rounds)`,
  );
  const paths = groupsOf(profile).flatMap(makeFiles);
  const runs = new Map(clients.map((client) => [client, []]));
  let browserVersion;
  const sink = await startSink(profile);
  try {
    for (let round = 0; round < profile.rounds; round += 1) {
      // A different client is first in each round, because the first run differs (cold disk, warm processor).
      const order = [...clients.slice(round % clients.length), ...clients.slice(0, round % clients.length)];
      for (const client of order) {
        const run = await runOnce(client, { profile, page, paths, sink });
        runs.get(client).push({ round, ...run });
        browserVersion = run.browserVersion ?? browserVersion;
        const speed = `${run.MBps?.toFixed(1)} MB/s`;
        const said = run.error ? `FAILED: ${run.error}` : speed;
        console.log(`  round ${round + 1}  ${client.padEnd(24)}${said}`);
      }
    }
  } finally {
    await sink.stop();
  }
  const { name, about, files, line, rounds, yardstick } = profile;
  const rows = rowsOf(runs, yardstick?.client);
  console.log(
    yardstick
      ? `\nYardstick: ${yardstick.client}, because ${yardstick.why}.`
      : '\nNo yardstick: compare with the fastest.',
  );
  console.log(tableOf(rows));
  for (const { client, error } of rows) if (error) console.log(`${client} failed: ${error}`);
  return { name, about, files, line, rounds, yardstick, browserVersion, rows };
}

const scriptFor = (client, page) => (client === COMPARED ? page.comparedScript : page.widgetScript);

function canRun(client, page) {
  if (!isOurs(client)) return true;
  const missing = !scriptFor(client, page)
    ? 'src/define.ts'
    : client.endsWith(WITH_SERVICE) && !hasService()
      ? 'demo/server/server.ts'
      : '';
  if (missing) console.log(`${client} is left out: there is no ${missing}`);
  return !missing;
}

// Runs one client in a separate browser. Returns its results, or `{error}` if it failed.
async function runOnce(client, { profile, page, paths, sink }) {
  const isService = client.endsWith(WITH_SERVICE);
  const target = isService
    ? await startService(page.origin)
    : { ...sink, token: 'a-token', folder: 'folder-a' };
  const browser = await startBrowser();
  const place = {
    service: target.service,
    storage: target.storage,
    token: target.token,
    folder: target.folder,
    sign: profile.sign,
    slow: client.endsWith(WITH_FAST_DISK)
      ? []
      : groupsOf(profile).filter(({ readBytesPerSecond }) => readBytesPerSecond),
    widgetScript: scriptFor(client, page),
    isPicked: client.endsWith(WITH_PICKER),
    isBatched: client.endsWith('@batches'),
  };
  try {
    if (!isService) await sink.reset();
    if (profile.twice) {
      await upload({ browser, page, paths, client, place, profile, sink });
      await sink.reset({ keepMemory: true });
    }
    const { timed, usage } = await upload({ browser, page, paths, client, place, profile, sink });
    const counts = await target.counts();
    const files = timedFiles(profile);
    const { isStopped: stopped } = timed;
    if (!stopped && !profile.twice && counts.bytes < files.totalBytes) {
      throw new Error(`said to be done, but only ${counts.bytes} of ${files.totalBytes} bytes came`);
    }
    return {
      browserVersion: browser.version,
      ...figuresOf({
        page: timed,
        usage,
        counts,
        files,
        line: profile.uplink ? {} : profile.line,
        stopped,
      }),
    };
  } catch (error) {
    return { error: String(error.message).split('\n')[0].slice(0, 300) };
  } finally {
    await browser.close();
    if (isService) await target.stop();
  }
}

async function upload({ browser, page, paths, client, place, sink, profile }) {
  const { busy, stopAfterMs, uplink, trace } = profile;
  const tab = await browser.openPage(page.origin, paths);
  await tab.evaluate(([name, where]) => window.bench.prepare(name, where), [client, place]);
  const chooser = place.isPicked ? await openPicker(tab) : undefined;
  const widen = uplink && (await browser.limitUplink(tab, uplink.bytesPerSecond));
  if (uplink) await sink.begin('before');
  const watching = await browser.watch(tab);
  const endTrace = trace && (await browser.traceTasks(tab));
  let timer;
  let change;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`not done after ${RUN_LIMIT_MS / 60_000} minutes`)),
      RUN_LIMIT_MS,
    );
  });
  try {
    if (uplink) change = setTimeout(() => Promise.all([widen(), sink.begin('after')]), uplink.forMs);
    const running = tab.evaluate((how) => window.bench.run(how), { stopAfterMs, busy });
    const [timed] = await Promise.race([Promise.all([running, chooser?.setFiles(paths)]), late]);
    const usage = await watching.stop();
    return { timed: endTrace ? { ...timed, threadTaskMs: await endTrace() } : timed, usage };
  } finally {
    clearTimeout(timer);
    clearTimeout(change);
    watching.cancel();
    await tab.close();
  }
}

/** Opens the picker as a user does. Its time is not part of the upload. */
async function openPicker(tab) {
  // Playwright can answer only the picker of an input.
  await tab.evaluate(() => delete window.showOpenFilePicker);
  const opening = tab.waitForEvent('filechooser');
  await tab.locator('secure-uploader [data-action=browse]').first().click();
  const chooser = await opening;
  await tab.waitForTimeout(CHOOSING_MS);
  return chooser;
}

function describeMachine(results) {
  const processors = cpus();
  return {
    measuredAt: new Date().toISOString(),
    machine: {
      processors: processors.length,
      model: processors[0]?.model,
      memoryGB: Math.round(totalmem() / 1e9),
      platform: process.platform,
    },
    node: process.version,
    browser: results.find(({ browserVersion }) => browserVersion)?.browserVersion,
  };
}

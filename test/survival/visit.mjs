// The browser of one journey: its profile on disk, and the page with the client. Does what happens to a page (reload, crash,
// restart, sleep, offline), and what a user does.
import { setTimeout as pause } from 'node:timers/promises';
import { killBrowser, signalBrowser, startBrowser } from '../e2e/support/browser.ts';

const STATE_LIMIT_MS = 5000;

/** `place` is passed to the page (page/main.js). `log` collects what the pages report. */
export class Visit {
  log = [];
  /** Number of times that a page was opened or loaded again. */
  loadCount = 0;
  #profile;
  #url;
  #place;
  #network;
  #context;
  #page;
  #beside;
  #tools;
  #isAsleep = false;

  constructor({ profile, url, place, bytesPerSecond }) {
    this.#profile = profile;
    this.#url = url;
    this.#place = place;
    this.#network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond };
  }

  async start() {
    this.#context = await startBrowser(this.#profile);
    await this.#open();
  }

  get version() {
    return this.#context.browser()?.version();
  }

  /** Returns the state of the client: `idle` until it has a file, `running`, `failed`, `done`; empty if there is no page now. */
  async state() {
    if (this.#isAsleep) return '';
    const reading = this.read('window.journey?.state ?? ""').catch(() => '');
    return Promise.race([reading, pause(STATE_LIMIT_MS, '', { ref: false })]);
  }

  /** Resolves with the value of an expression in the page. */
  read(expression) {
    return this.#page.evaluate(expression);
  }

  pick(path) {
    return this.#page.setInputFiles('input', path);
  }

  /** Clicks the button that the client has for a retry. */
  click() {
    return this.read('void window.journey.click()');
  }

  async setOnline(isOnline) {
    this.#network.offline = !isOnline;
    await this.#shape();
  }

  async setRate(bytesPerSecond) {
    this.#network.uploadThroughput = bytesPerSecond;
    await this.#shape();
  }

  /** Stops all processes of the browser, until `wake()`. */
  sleep() {
    this.#isAsleep = true;
    signalBrowser(this.#profile, 'SIGSTOP');
  }

  wake() {
    signalBrowser(this.#profile, 'SIGCONT');
    this.#isAsleep = false;
  }

  async reload() {
    await this.#readLog();
    await this.#page.reload();
    await this.#begin(this.#page, { isReturn: true });
  }

  /** Ends the page's process, and opens the page again. */
  async crash() {
    await this.#readLog();
    const crashed = this.#page.waitForEvent('crash');
    // The command has no response.
    this.#tools.send('Page.crash').catch(() => undefined);
    await crashed;
    await this.#page.close();
    await this.#open({ isReturn: true });
  }

  /** Kills the browser, and starts it again with the same profile. */
  async restart() {
    await this.#readLog();
    await killBrowser(this.#profile, this.#context);
    this.#context = await startBrowser(this.#profile);
    await this.#open({ isReturn: true });
  }

  /** Opens the page once more, in another tab, where the user does nothing. */
  async openBeside() {
    this.#beside = await this.#context.newPage();
    await this.#load(this.#beside);
    await this.#begin(this.#beside, { isReturn: true, isBeside: true });
  }

  async closeBeside() {
    await this.#beside.close();
  }

  async close() {
    if (this.#isAsleep) this.wake();
    await this.#readLog();
    await this.#context.close();
  }

  async #open(options) {
    this.#page = await this.#context.newPage();
    await this.#load(this.#page);
    await this.#begin(this.#page, options);
  }

  // The system buffers megabytes on the way to a server on the same machine, so the browser limits its rate, too. Otherwise, pages
  // would count bytes as sent that are not.
  async #load(page) {
    const tools = await this.#context.newCDPSession(page);
    await tools.send('Network.enable');
    if (page === this.#page) this.#tools = tools;
    await tools.send('Network.emulateNetworkConditions', this.#network);
    await page.goto(this.#url);
  }

  async #begin(page, { isReturn = false, isBeside = false } = {}) {
    await page.waitForFunction('window.journey');
    await page.evaluate((place) => window.journey.start(place), { ...this.#place, isReturn, isBeside });
    if (!isBeside) this.loadCount += 1;
  }

  #shape() {
    return this.#tools.send('Network.emulateNetworkConditions', this.#network);
  }

  async #readLog() {
    const entries = await this.read('window.journey?.log ?? []').catch(() => []);
    this.log.push(...entries);
  }
}

// Finds the browsers for the tests, and tries to install missing browsers. Runs before dependencies are installed, so it may import
// only `node:` modules.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const isExecutable = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const onPath = (names) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);

/**
 * Returns the path of a Chromium-based browser; undefined if there is none. Prefers `CHROME_PATH`, then an installed Chromium,
 * Chrome or Edge, then Playwright's download. Throws if `CHROME_PATH` is not an executable file.
 */
export function findChromium() {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (!isExecutable(named)) throw new Error(`CHROME_PATH names no executable: ${named}`);
    return named;
  }
  return installedChromium() ?? downloadedChromium();
}

function installedChromium() {
  if (process.platform === 'darwin') {
    const names = ['Chromium', 'Google Chrome', 'Microsoft Edge'];
    return names.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`).find(isExecutable);
  }
  if (process.platform === 'win32') {
    const roots = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].map((key) => process.env[key]);
    const tails = [
      'Chromium/Application/chrome.exe',
      'Google/Chrome/Application/chrome.exe',
      'Microsoft/Edge/Application/msedge.exe',
    ];
    return tails.flatMap((tail) => roots.filter(Boolean).map((root) => join(root, tail))).find(existsSync);
  }
  return onPath([
    'chromium',
    'chromium-browser',
    'google-chrome-stable',
    'google-chrome',
    'microsoft-edge-stable',
    'microsoft-edge',
  ]);
}

function downloadedChromium() {
  const caches = {
    darwin: join(homedir(), 'Library/Caches/ms-playwright'),
    win32: join(process.env.LOCALAPPDATA ?? homedir(), 'ms-playwright'),
  };
  const cache =
    process.env.PLAYWRIGHT_BROWSERS_PATH ??
    caches[process.platform] ??
    join(homedir(), '.cache/ms-playwright');
  if (!existsSync(cache)) return undefined;
  const tails = [
    'chrome-linux64/chrome',
    'chrome-linux/chrome',
    'chrome-win64/chrome.exe',
    'chrome-win/chrome.exe',
    'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
    'chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
    'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
  ];
  return readdirSync(cache)
    .filter((name) => /^chromium-\d+$/.test(name))
    .flatMap((name) => tails.map((tail) => join(cache, name, tail)))
    .find(isExecutable);
}

/** Returns the path of Firefox: `FIREFOX_PATH`, or an installed Firefox; undefined if there is none. */
export const findFirefox = () =>
  process.env.FIREFOX_PATH ||
  onPath(['firefox-esr', 'firefox']) ||
  ['/Applications/Firefox.app/Contents/MacOS/firefox'].find(isExecutable);

/** Returns the paths that WebKitGTK needs, `{driver, browser, display}`; undefined if a path is missing. */
export function findWebKit() {
  const driver = onPath(['WebKitWebDriver']);
  const display = onPath(['Xvfb']);
  const browser = ['/usr/lib', ...listed('/usr/lib', /-linux-gnu/)]
    .flatMap((folder) =>
      ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'].map((name) => join(folder, name, 'MiniBrowser')),
    )
    .find(isExecutable);
  return driver && display && browser ? { driver, browser, display } : undefined;
}

const listed = (folder, pattern) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => pattern.test(name))
        .map((name) => join(folder, name))
    : [];

const INSTALL_LIMIT_MS = 600_000;
const PAUSE_MS = 5000;

/** Runs a command that downloads, up to `times` with a pause. Returns true if it succeeded. */
export function runRepeatedly(command, args, { env = process.env, times = 3, ...options } = {}) {
  for (let nth = 1; nth <= times; nth += 1) {
    if (nth > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    const { status } = spawnSync(command, args, {
      ...options,
      stdio: 'inherit',
      env,
      timeout: INSTALL_LIMIT_MS,
    });
    if (status === 0) return true;
  }
  return false;
}

function mayUseApt() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    return false;
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return !/^ID=ubuntu$/m.test(release); // The packages of Ubuntu only install snaps.
}

/** Installs Debian packages, as root. Returns false if that is not possible, or refused by `SKIP_INSTALL`. */
export function aptInstall(packages) {
  if (!mayUseApt()) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-o', 'DPkg::Lock::Timeout=120', '-q'];
  const install = [...options, '-y', '--no-install-recommends', 'install', ...packages];
  const command = `apt-get ${install.join(' ')}`;
  if (isSet('SKIP_INSTALL')) {
    console.log(`setup: not run, because SKIP_INSTALL is set: ${command}`);
    return false;
  }
  console.log(
    `setup: the tests need ${packages.join(', ')}. Running (SKIP_INSTALL=1 prevents this): ${command}`,
  );
  return (
    runRepeatedly('apt-get', [...options, 'update'], { env }) && runRepeatedly('apt-get', install, { env })
  );
}

const MISSING =
  'No Chromium, Chrome or Edge was found, and none was installed. Install one, or set CHROME_PATH to its executable.';

/** Libraries that a downloaded Chromium needs, and that Linux has only with a browser or a desktop. */
const LIBRARIES = ['libnss3.so', 'libgbm.so.1', 'libasound.so.2'];

/** Returns true if the system has what a downloaded Chromium needs to start. */
function canRunDownload() {
  if (process.platform !== 'linux') return true;
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const { stdout } = spawnSync('ldconfig', ['-p'], { env, encoding: 'utf8' });
  return LIBRARIES.every((name) => stdout?.includes(name));
}

function downloadChromium(root) {
  if (isSet('SKIP_INSTALL')) return;
  console.log('setup: fetching a Chromium for the tests (playwright install), without changing the system');
  const args = [join(root, 'node_modules/playwright/cli.js'), 'install', 'chromium'];
  runRepeatedly(process.execPath, args, { times: mayUseApt() ? 1 : 3 });
}

/**
 * Installs Chromium if there is none. Installs packages of the system only if a downloaded Chromium could not start, or could not
 * be downloaded. Returns instructions if the installation fails, otherwise undefined.
 */
export function provideChromium(root) {
  if (findChromium()) return undefined;
  const isUsable = canRunDownload();
  if (isUsable) downloadChromium(root);
  if (!findChromium()) aptInstall(['chromium']);
  if (!findChromium() && !isUsable) downloadChromium(root);
  return findChromium() ? undefined : MISSING;
}

/** Installs Firefox and WebKitGTK if they are missing. Returns instructions if the installation fails, otherwise undefined. */
export function provideEngines() {
  if (!findFirefox()) aptInstall(['firefox-esr']);
  if (!findWebKit()) aptInstall(['webkit2gtk-driver', 'xvfb']);
  const missing = [
    findFirefox() ? '' : 'Firefox (firefox-esr)',
    findWebKit() ? '' : 'WebKitGTK (webkit2gtk-driver, xvfb)',
  ];
  const names = missing.filter(Boolean);
  return names.length
    ? `The tests of all engines need ${names.join(' and ')}: install them, or name other stages (npm run verify -- --list).`
    : undefined;
}

/**
 * Features of Chromium that no test needs. Address bar popups start a renderer process for each window, and the spare renderer is
 * one more process for each profile. Together, these processes take 40 % of the CPU time of a short test.
 */
export const unusedFeatures = [
  'SpareRendererForSitePerProcess',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup',
];

/** Features that Playwright disables. The list is repeated here, because Chromium uses only the last `--disable-features`. */
const playwrightFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

export const disableFeatures = (names) => `--disable-features=${names.join(',')}`;

/** Switches for Chromium in all tests. The sandbox is disabled only if it cannot work. */
const commonArgs = [
  ...(process.getuid?.() === 0 || process.env.CI ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Switches for Chromium when Playwright starts it. */
export const chromiumArgs = [...commonArgs, disableFeatures([...playwrightFeatures, ...unusedFeatures])];

/** Switches for Chromium when Puppeteer starts it. Puppeteer adds its own features to `--disable-features`. */
export const puppeteerArgs = [...commonArgs, disableFeatures(unusedFeatures)];

/** Returns true if an environment variable such as `SKIP_INSTALL` is set, and is not empty, `0` or `false`. */
export const isSet = (name) => !['', '0', 'false', undefined].includes(process.env[name]?.toLowerCase());

// Pictures of every step of the sign-in form, and of the service's own page, into .data/screenshots (not kept), for looking at:
// `node --import tsx test/e2e/auth-screenshots.mjs [name]`.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { startService } from '../../demo/server/server.ts';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { buildLoginPage } from '../../scripts/login-page.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = `${root}.data/screenshots/`;
const wanted = process.argv[2] ?? '';
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  server: { host: '127.0.0.1', port: 0, hmr: false },
  optimizeDeps: { noDiscovery: true, include: [] },
});
await server.listen();
const origin = `http://127.0.0.1:${server.httpServer.address().port}`;
const dataDir = await mkdtemp(join(tmpdir(), 'secure-uploader-pictures-'));
const service = await startService({
  dataDir,
  appOrigins: [origin],
  test: true,
  loginScript: await buildLoginPage(),
});
const browser = await chromium.launch({ executablePath: findChromium(), args: chromiumArgs });
await mkdir(out, { recursive: true });

/** Opens a page at `address` for a picture. */
async function open(name, address, { width = 480, ...media } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 320 }, deviceScaleFactor: 1.5, ...media });
  page.on('pageerror', (error) => console.error(name, error.message));
  await page.goto(address);
  return page;
}

const gallery = `${origin}/test/e2e/support/auth-gallery.html`;
const first = await open('states', gallery);
await first.waitForSelector('secure-uploader-login section');
const states = await first.evaluate(async () =>
  Object.keys((await import('/test/e2e/support/auth-gallery.ts')).GALLERY),
);
await first.close();
const looks = {
  '': {},
  dark: { media: { colorScheme: 'dark' } },
  narrow: { media: { width: 320 } },
  rtl: { query: { dir: 'rtl' } },
  zoom: { query: { zoom: 2 }, media: { width: 640 } },
  forced: { media: { forcedColors: 'active' } },
};
for (const [look, { query = {}, media = {} }] of Object.entries(looks)) {
  for (const state of states) {
    const name = ['login', state, look].filter(Boolean).join('-');
    if (!name.includes(wanted)) continue;
    const page = await open(name, `${gallery}?${new URLSearchParams({ state, ...query })}`, media);
    await page.waitForSelector('secure-uploader-login section');
    await page.screenshot({ path: `${out}${name}.png`, fullPage: true });
    await page.close();
  }
  const name = ['login', 'service', look].filter(Boolean).join('-');
  if (!name.includes(wanted) || Object.keys(query).length) continue;
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: 'secure-uploader',
    redirect_uri: `${origin}/secure-uploader-callback.html`,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 'some-state',
  });
  const page = await open(name, `${service.baseUrl}/authorize?${asked}`, media);
  await page.getByLabel('E-mail address').fill('tom@example.com');
  await page.screenshot({ path: `${out}${name}.png`, fullPage: true });
  await page.getByLabel('Password', { exact: true }).fill(service.seed.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Code', { exact: true }).waitFor();
  await page.screenshot({ path: `${out}${name}-code.png`, fullPage: true });
  await page.close();
}
await browser.close();
await server.close();
await service.close();
await rm(dataDir, { recursive: true, force: true });

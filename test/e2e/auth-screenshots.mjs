// Writes screenshots of all steps of the sign-in form and of the service's page to .data/screenshots, which Git ignores.
// Usage: `node --import tsx test/e2e/auth-screenshots.mjs [name]`
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../../demo/server/server.ts';
import { buildLoginPage } from '../../scripts/login-page.mjs';
import { startPictures } from './support/pictures.mjs';

const wanted = process.argv[2] ?? '';
const { origin, browser, shoot, close } = await startPictures();
const dataDir = await mkdtemp(join(tmpdir(), 'secure-uploader-pictures-'));
const service = await startService({
  dataDir,
  appOrigins: [origin],
  test: true,
  loginScript: await buildLoginPage(),
});

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
    await shoot(page, name);
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
  await page.getByLabel('Email address').fill('tom@example.com');
  await shoot(page, name);
  await page.getByLabel('Password', { exact: true }).fill(service.seed.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Code', { exact: true }).waitFor();
  await shoot(page, `${name}-code`);
  await page.close();
}
await close();
await service.close();
await rm(dataDir, { recursive: true, force: true });

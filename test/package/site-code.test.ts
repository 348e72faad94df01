// The code that the site has to copy: complete, and without changes it uploads a file. examples.test.ts builds the
// other kinds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from 'playwright';
import { codeOf, KINDS } from '../../demo/code.ts';
import { startService } from '../../demo/server/server.ts';
import { chromiumArgs, findChromium } from '../../scripts/browser.mjs';
import { builtWidget } from '../support/built.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { serve } from './serve.ts';
import { attributesOf } from './site-code.ts';

const HOSTILE = { 'base-url': "https://a.test/'</script>\n", accept: '"><script>&{\n' };

test('a page of the HTML uploads a file', async (t) => {
  const folder = temporaryFolder();
  const service = await startService({ dataDir: folder, appOrigins: [], test: true, fsync: false });
  const pages: Record<string, string> = {};
  const site = await serve(builtWidget(), pages);
  const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs });
  t.after(async () => {
    await browser.close();
    site.stop();
    await service.close();
  });
  service.allowOrigin(site.origin);
  pages['/'] = codeOf('HTML', attributesOf(service), true);
  const page = await browser.newPage();
  await page.goto(`${site.origin}/`);
  const line = page.waitForEvent('console', (message) => message.text().startsWith('a.txt'));
  await page.setInputFiles('secure-uploader >> input[type=file]', {
    name: 'a.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('some text'),
  });
  await line;
  const files = await service.listFiles('folder-a');
  assert.deepEqual(
    files.map(({ name, sizeBytes }) => [name, sizeBytes]),
    [['a.txt', 9]],
  );
});

test('attributes keep their values in each kind of code', () => {
  for (const kind of KINDS) {
    const code = codeOf(kind, HOSTILE, true);
    const written =
      kind === 'React' ? String.raw`accept={"\"><script>&{\n"}` : 'accept="&#34;><script>&#38;&#123;&#10;"';
    assert.ok(code.includes(written), `${kind}: ${code}`);
    assert.ok(
      code.includes(String.raw`fetch('https://a.test/\'\x3c/script>\n/_test/token'`),
      `${kind}: ${code}`,
    );
    assert.ok(code.includes('owner="alice"'), kind);
    assert.doesNotMatch(codeOf(kind, HOSTILE, false), /getToken|owner/, kind);
  }
});

// Sign-in across one site and two: which channel sees which session, and what the widget makes of it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright';
import { type AuthWorld, createAuthWorld, fillIn, until } from './support/auth-world.ts';

declare const tools: typeof import('./support/auth-page.ts').tools;

for (const site of ['same-site', 'cross-site'] as const) {
  describe(site, () => {
    let world: AuthWorld;
    before(async () => {
      world = await createAuthWorld(site);
    });
    after(() => world.close());
    beforeEach(() => world.reset());

    const settings = (more: object = {}): object => ({ baseUrl: world.service.baseUrl, ...more });
    const call = (page: Page, more: object = {}, count = 1): Promise<string> =>
      page.evaluate(([input, count]) => tools.call(input, count), [settings(more), count] as const);
    const popup = async (page: Page): Promise<Page> => {
      const [window] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByText('Sign in here').click(),
      ]);
      await window.getByRole('button').first().waitFor();
      return window;
    };
    const operations = (): string[] =>
      world.service.log
        .filter(({ method, operation }) => method !== 'OPTIONS' && operation !== 'other')
        .map(({ operation }) => operation);

    test('a window signs in all that waits, with one code', async () => {
      const page = await world.open({ auth: 'popup' });
      const waiting = call(page, {}, 3);
      await until(page, 'auth-required');
      await fillIn(await popup(page), 'alice@example.com', world.service.seed.password);
      assert.equal(await waiting, 'done');
      assert.equal(world.count('token'), 1);
      assert.deepEqual(world.violations, []);
    });

    test('check 9: given an identity page that severs the window, when the login completes, then the channel signs in, and the window never counted as closed', async () => {
      const page = await world.open({ auth: 'popup', idpId: 'corp' });
      const waiting = call(page);
      await until(page, 'auth-required');
      const window = await popup(page);
      const email = window.getByLabel(/e-?mail|user/i);
      if (await email.count()) await email.first().fill('alice@example.com');
      const password = window.getByLabel(/password/i);
      if (await password.count()) await password.first().fill(world.service.seed.password);
      await window.getByRole('button').first().click();
      assert.equal(await waiting, 'done');
      assert.equal(world.count('token'), 1);
      const failed = await page.evaluate(() => tools.events.filter(({ name }) => name === 'auth-failed'));
      assert.deepEqual(failed, []);
    });

    test('check 5: given the form and a TOTP user, when all is entered, then login, challenge, silent authorize and token come in that order, and the call runs', async () => {
      const page = await world.open({ auth: 'local' });
      const waiting = call(page);
      await until(page, 'auth-required');
      await page.evaluate((input) => tools.showForm(input), settings({ auth: 'local' }));
      world.service.faults.clearLog();
      await page.getByLabel('E-mail address').fill('tom@example.com');
      await page.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByLabel('Code', { exact: true }).fill(await world.service.people.totp('tom'));
      await page.getByRole('button', { name: 'Confirm' }).click();
      assert.equal(await waiting, 'done');
      assert.deepEqual(operations(), ['login', 'challenge', 'authorize', 'token', 'session']);
      assert.equal(await page.locator('iframe').count(), 0);
      assert.deepEqual(world.violations, []);
    });

    test('a token that was lost is followed by a silent one only where the browser lets the frame see the session', async () => {
      const page = await world.open({ auth: 'popup' });
      const waiting = call(page);
      await until(page, 'auth-required');
      await fillIn(await popup(page), 'alice@example.com', world.service.seed.password);
      await waiting;
      world.service.faults.clearLog();
      world.service.faults.add({ operation: 'session', status: 401, body: {} });
      const again = call(page);
      if (site === 'same-site') {
        assert.equal(await again, 'done');
        assert.deepEqual(operations(), ['session', 'authorize', 'token', 'session']);
      } else {
        const out = await until(page, 'signed-out');
        assert.equal(out.reason, 'expired');
        assert.equal(world.count('authorize'), 0, 'no frame is tried in vain');
        const window = page.waitForEvent('popup');
        await page.getByText('Sign in here').click();
        await window;
        assert.equal(await again, 'done', 'the window finds its session and closes by itself');
      }
    });

    test('check 33: given eight calls whose token was refused at once, then one renewal serves all', async () => {
      const { token } = await world.service.createToken('alice');
      const page = await world.open();
      await page.evaluate(
        ([baseUrl, token]) => {
          let count = 0;
          const getToken = (): string => (count++ ? token : 'refused-token');
          Object.assign(globalThis, { countTokens: () => count });
          tools.open({ baseUrl, getToken });
        },
        [world.service.baseUrl, token] as const,
      );
      assert.equal(await call(page, {}, 8), 'done');
      const count = await page.evaluate(() =>
        (globalThis as unknown as { countTokens(): number }).countTokens(),
      );
      assert.equal(count, 2);
    });

    test('check 34: given sign-out in one tab, then the others drop their tokens', async () => {
      const pages = [await world.open({ auth: 'popup' }), await world.open({ auth: 'popup' })] as const;
      for (const page of pages) {
        const waiting = call(page);
        await page.waitForFunction(
          () => tools.session?.snapshot.state === 'prompt' || tools.session?.snapshot.state === 'signed-in',
        );
        if ((await page.evaluate(() => tools.session?.snapshot.state)) === 'prompt') {
          await Promise.all([
            page.waitForEvent('popup').then(async (window) => {
              if (page === pages[0]) await fillIn(window, 'alice@example.com', world.service.seed.password);
            }),
            page.getByText('Sign in here').click(),
          ]);
        }
        assert.equal(await waiting, 'done');
      }
      await pages[0].evaluate(() => tools.session?.signOut());
      assert.deepEqual(await until(pages[1], 'signed-out'), { reason: 'other-tab' });
      assert.equal(await pages[1].evaluate(() => tools.session?.snapshot.state), 'signed-out');
    });

    test('check 35: given a whole session, then nothing secret is in page, storage, events, console or address', async () => {
      // The browser may drop a body before it can be asked for, so the page keeps the answers, where no scan looks.
      const script = `const own = fetch; globalThis.answers = []; globalThis.fetch = async (...given) => {
        const answer = await own(...given);
        if (String(given[0]).includes('/auth/')) answers.push(await answer.clone().text());
        return answer;
      };`;
      const page = await world.open({ auth: 'local' }, { script });
      const lines: string[] = [];
      page.on('console', (message) => lines.push(message.text()));
      const urls: string[] = [];
      const bodies: string[] = [];
      page.on('request', (request) => {
        if (new URL(request.url()).origin === world.origin)
          urls.push(request.url().replace(/callback\.html\?.*/, ''));
        if (request.url().includes('/auth/')) bodies.push(request.postData() ?? '');
      });
      const waiting = call(page);
      await until(page, 'auth-required');
      await page.evaluate((input) => tools.showForm(input), settings({ auth: 'local' }));
      await page.getByLabel('E-mail address').fill('mia@example.com');
      await page.getByLabel('Password', { exact: true }).fill(world.service.seed.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Recovery code' }).click();
      const [code] = await world.service.people.recoveryCodes('mia');
      await page.getByLabel('Code', { exact: true }).fill(code ?? '');
      await page.getByRole('button', { name: 'Confirm' }).click();
      assert.equal(await waiting, 'done');
      const sent = bodies.map((body) => JSON.parse(body) as Record<string, string>);
      const got = (await page.evaluate(() => (globalThis as unknown as { answers: string[] }).answers)).map(
        (body) => JSON.parse(body) as Record<string, string>,
      );
      const names = ['token', 'challenge_token', 'code_verifier', 'code', 'password', 'email'];
      const secrets = [...sent, ...got].flatMap((body) =>
        names.flatMap((name) => (body[name] ? [body[name]] : [])),
      );
      assert.ok(secrets.length >= 8, `the scan knows what to look for: ${secrets.length}`);
      const seen = await page.evaluate(async () => {
        const databases = (await indexedDB.databases()).map(({ name }) => name);
        return JSON.stringify([
          document.documentElement.outerHTML,
          [...document.querySelectorAll('input')].map((input) => input.value),
          Object.entries(localStorage),
          Object.entries(sessionStorage),
          databases,
          document.cookie,
          location.href,
          history.state,
          tools.events,
          tools.session,
          String(tools.session),
        ]);
      });
      for (const secret of secrets) {
        for (const text of [seen, ...lines, ...urls])
          assert.equal(text.includes(secret), false, 'a secret is seen');
      }
    });
  });
}

// The page `/_demo`, with authenticator codes, messages and phones of the demo users. It shows secrets: never enable it in
// production.
import { Hono } from 'hono';
import { html } from 'hono/html';
import { currentTotp, factorsOf } from './factors.ts';
import type { Env, Parts } from './parts.ts';
import { Refusal, readText } from './refusal.ts';
import { demoPassword, users } from './seed.ts';
import { page, pageHeaders } from './sign-in-page.ts';

/** Creates the route of the page and the route of its buttons. */
export function demoRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { baseUrl, tables } = parts;

  app.get('/_demo', async (c) => {
    const rows = await Promise.all(
      users.map(async (user) => {
        const has = (method: string): boolean => user.methods.some((known) => known === method);
        const codes = [
          has('totp') ? `now: ${await currentTotp(parts, user.id)}` : '',
          has('recovery') ? (await factorsOf(parts, user.id)).recoveryCodes.join(' ') : '',
        ];
        return html`<tr><td>${user.email}</td><td>${user.about}</td><td>${codes.join(' ')}</td></tr>`;
      }),
    );
    const messages = await listMessages(parts);
    const inbox = messages.map(({ id, message }) => {
      const choice = (text: string, value: string): ReturnType<typeof html> =>
        html`<form method="post" action="/_demo/push"><input type="hidden" name="id" value="${id}">
          <button name="choice" value="${value}">${text}</button></form> `;
      const waits = message.method === 'push' && !message.decision;
      const numbers = waits
        ? [...message.text.split(' ').map((n) => choice(n, n)), choice('Deny', 'deny')]
        : message.text;
      return html`<tr><td>${message.userId.replace('user-', '')}</td><td>${message.method}</td>
        <td>${numbers} ${message.decision ?? ''}</td></tr>`;
    });
    const content = html`<h1>Behind the scenes</h1><p>Everyone’s password is “${demoPassword}”.</p>
      <table><tr><th>User</th><th>Shows</th><th>Codes</th></tr>${rows}</table>
      <h2>Messages and phones</h2>
      <table><tr><th>To</th><th>By</th><th>What it says</th></tr>${inbox}</table>`;
    return c.html(page('Behind the scenes', content), 200, { ...pageHeaders("'self'"), refresh: '5' });
  });

  app.post('/_demo/push', async (c) => {
    if (c.req.header('origin') !== baseUrl) throw new Refusal(403, 'untrusted_origin', 'not our form');
    const form = new URLSearchParams(await readText(c.req.raw, 1024));
    const choice = form.get('choice');
    await tables.messages.update(form.get('id') ?? '', (message) =>
      message?.method === 'push' && !message.decision
        ? { ...message, decision: choice === String(message.number) ? 'approved' : 'denied' }
        : undefined,
    );
    return c.redirect('/_demo', 303);
  });
  return app;
}

/** A sent message, with its key in `tables.messages`. */
export interface Delivered {
  id: string;
  message: Awaited<ReturnType<Parts['tables']['messages']['list']>>[number];
}

/** Resolves with the messages that have not expired, newest first. */
export async function listMessages({ tables, clock }: Parts): Promise<Delivered[]> {
  const found: Delivered[] = [];
  await tables.messages.list((message, id) => found.push({ id, message }) > 0);
  return found
    .filter(({ message }) => (message.keepUntil ?? 0) > clock.now())
    .sort((a, b) => b.message.at - a.message.at);
}

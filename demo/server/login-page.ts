// The sign-in page with <secure-uploader-login>, and with a plain form for browsers without JavaScript.
import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Env, Parts } from './parts.ts';
import { page, pageHeaders, signInForm } from './sign-in-page.ts';

const ownScript = `document.addEventListener('signed-in', () => {
  const url = new URL(location.href);
  url.searchParams.delete('prompt');
  location.replace(url);
});
`;

/** Returns the sign-in page. Browsers without JavaScript send its plain form to `action`. */
export function loginPage(baseUrl: string, idp: string, action: string): ReturnType<typeof html> {
  const content = html`<h1>Reference service</h1>
    <p>Sign in to continue your upload</p>
    <noscript>${signInForm(action)}</noscript>
    <secure-uploader-login base-url="${baseUrl}" idp-id="${idp}" focus-first></secure-uploader-login>
    <script type="module" src="/authorize/page.js"></script>
    <script type="module" src="/authorize/login.js"></script>`;
  return page('Sign in', content);
}

/** Returns the headers of the plain page, with a policy that also allows scripts and requests to the service. */
export function loginPageHeaders(formAction: string): Record<string, string> {
  const headers = pageHeaders(formAction);
  const more =
    "script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types lit-html";
  return { ...headers, 'content-security-policy': `${headers['content-security-policy']}; ${more}` };
}

export function loginPageRoutes({ settings }: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { loginScript } = settings;
  if (!loginScript) return app;
  const scripts = { 'login.js': loginScript, 'page.js': ownScript };
  for (const [name, text] of Object.entries(scripts)) {
    app.get(`/authorize/${name}`, (c) =>
      c.body(text, 200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' }),
    );
  }
  return app;
}

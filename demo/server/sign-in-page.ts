// The sign-in page without JavaScript: plain HTML and one style sheet.
import { html } from 'hono/html';

type Html = ReturnType<typeof html>;

/** Returns the headers of the page: a strict CSP, no framing, no caching, no referrer to other origins. */
export function pageHeaders(formAction: string): Record<string, string> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      `form-action ${formAction}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/** Returns the sign-in form, which browsers send to `action`. */
export function signInForm(action: string, problem?: 'refused' | 'locked', email = ''): Html {
  const says = {
    refused: 'Incorrect email or password. Try again.',
    locked: 'Too many attempts. Try again in a few minutes.',
  };
  const described = problem ? html` aria-describedby="problem" aria-invalid="true"` : '';
  return html`${problem ? alert(says[problem]) : ''}
      <form method="post" action="${action}">
        <label for="email">Email address</label>
        <input id="email" name="email" type="email" value="${email}" required autocomplete="username"
          autocapitalize="none" spellcheck="false"${described}${problem ? '' : html` autofocus`}>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" required autocomplete="current-password"
          ${described}${problem ? html` autofocus` : ''}>
        <button type="submit">Sign in</button>
      </form>`;
}

/** Returns the sign-in page. `at` is the name of the identity provider, or empty for the service itself. */
export function signInPage(action: string, at: string, problem?: 'refused' | 'locked', email = ''): Html {
  const content = html`<h1>Sign in${at && ` at ${at}`}</h1>
      <p>to continue your upload</p>
      ${signInForm(action, problem, email)}`;
  return page('Sign in', content);
}

/** Data of the page of the second step. */
export interface SecondStep {
  action: string;
  token: string;
  methods: readonly string[];
  method: string | undefined;
  problem: string | undefined;
  delivery: string | undefined;
  number: number | undefined;
}

const methodNames: Record<string, string> = {
  totp: 'Code from your authenticator app',
  email: 'Code by email',
  sms: 'Code by SMS',
  push: 'Approve on your phone',
  recovery: 'Recovery code',
};

/** Returns the page of the second step, to choose a method, enter a code, or approve on the phone. */
export function secondStepPage(step: SecondStep): Html {
  const usable = step.methods.filter((method) => methodNames[method] !== undefined);
  const hidden = (action: string, method: string): Html =>
    html`<input type="hidden" name="challenge_token" value="${step.token}">
      <input type="hidden" name="action" value="${action}"><input type="hidden" name="method" value="${method}">`;
  const { method } = step;
  const code = html`<form method="post" action="${step.action}">${hidden('answer', method ?? '')}
      <label for="code">${methodNames[method ?? ''] ?? 'Code'}</label>
      ${step.delivery ? html`<p class="hint">Sent to ${step.delivery}</p>` : ''}
      <input id="code" name="code" required autocomplete="one-time-code" autofocus
        ${method === 'recovery' ? '' : html`inputmode="numeric"`}${step.problem ? html` aria-describedby="problem"` : ''}>
      <button type="submit">Continue</button></form>`;
  const phone = html`<p class="number">${step.number ?? ''}</p>
      <form method="post" action="${step.action}">${hidden('poll', 'push')}
      <p class="hint">Select this number on your phone, then continue.</p>
      <button type="submit" autofocus>Continue</button></form>`;
  const others = usable
    .filter((other) => other !== method)
    .map(
      (other) => html`<form method="post" action="${step.action}">${hidden('start', other)}
      <button type="submit" class="other">${methodNames[other] ?? other}</button></form>`,
    );
  const none = html`<p>This page doesn't support the sign-in methods of this account.</p>`;
  return page(
    'Confirm that it is you',
    html`<h1>Confirm that it is you</h1><p>One more step</p>
      ${step.problem ? alert(step.problem) : ''}
      ${method ? (method === 'push' ? phone : code) : ''}${others}${usable.length === 0 ? none : ''}`,
  );
}

/** Returns an error page. It has no link to the request's redirect URL, because that URL may be malicious. */
export function errorPage(message: string): Html {
  return page(
    'Sign-in is not possible',
    html`<h1>Sign-in is not possible</h1><p role="alert">${message}</p>`,
  );
}

function alert(text: string): Html {
  return html`<p class="problem" role="alert" id="problem">${text}</p>`;
}

export function page(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/authorize/style.css">
</head>
<body><main>${content}</main></body>
</html>`;
}

export const styleSheet = `:root {
  color-scheme: light dark;
  --back: light-dark(#f4f5f7, #14161a);
  --card: light-dark(#ffffff, #1e2127);
  --text: light-dark(#1b1f24, #e9ecf1);
  --soft: light-dark(#59636e, #9aa4b2);
  --line: light-dark(#7d8793, #6b7685);
  --accent: light-dark(#1f5fd0, #8ab4ff);
  --on-accent: light-dark(#ffffff, #0b1a33);
  --bad: light-dark(#b3261e, #ffb4ab);
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; grid-template-columns: 100%; place-items: center; padding: min(1rem, 4vw);
  overflow-wrap: anywhere;
  background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
}
main {
  width: min(24rem, 100%); padding: min(2rem, 6vw); border-radius: 1rem; background: var(--card);
  box-shadow: 0 1px 2px rgb(0 0 0 / 0.12), 0 8px 24px rgb(0 0 0 / 0.08);
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.2; }
h1 + p { margin: 0.25rem 0 1.5rem; color: var(--soft); }
form { display: grid; grid-template-columns: 100%; gap: 0.375rem; }
label { font-weight: 600; font-size: 0.875rem; }
input {
  width: 100%; min-height: 2.75rem; margin-bottom: 0.75rem; padding: 0 0.75rem; font: inherit; color: inherit;
  background: transparent; border: 1px solid var(--line); border-radius: 0.5rem;
}
button {
  min-height: 2.75rem; margin-top: 0.5rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 0; border-radius: 0.5rem;
}
button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.problem { margin: 0 0 1rem; color: var(--bad); font-weight: 600; }
.hint { margin: 0; color: var(--soft); font-size: 0.875rem; }
.number { margin: 0; font-size: 3rem; font-weight: 700; text-align: center; letter-spacing: 0.1em; }
.other { width: 100%; color: inherit; background: transparent; border: 1px solid var(--line); }
table { width: 100%; border-collapse: collapse; }
td, th { padding: 0.375rem 0.75rem 0.375rem 0; text-align: start; vertical-align: top; }
tr + tr { border-top: 1px solid light-dark(#e3e6ea, #343943); }
secure-uploader-login :is(input, button) { margin: 0; }
secure-uploader-login label { font-size: inherit; }
main:has(table) { width: min(60rem, 100%); overflow-x: auto; }
td form { display: inline-grid; }
[aria-invalid='true'] { border-color: var(--bad); }
`;

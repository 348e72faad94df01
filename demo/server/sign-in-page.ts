// What the sign-in page looks like: plain HTML, no script, one style sheet. It knows nothing of codes.
import { html } from 'hono/html';

type Html = ReturnType<typeof html>;

/** Headers of a page: a strict policy, never framed, its address told to nobody else. */
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

/** The sign-in form. `query` is the request for a code, sent along with the form. */
export function signInPage(query: string, problem?: 'refused' | 'locked', email = ''): Html {
  const says = {
    refused: 'The e-mail address or the password is not right.',
    locked: 'Too many attempts. Try again in a quarter of an hour.',
  };
  const error = problem ? html`<p class="problem" role="alert" id="problem">${says[problem]}</p>` : '';
  const described = problem ? html` aria-describedby="problem" aria-invalid="true"` : '';
  return page(
    'Sign in',
    html`<h1>Sign in</h1>
      <p>to go on with your upload</p>
      ${error}
      <form method="post" action="/authorize/sign-in?${query}">
        <label for="email">E-mail address</label>
        <input id="email" name="email" type="email" value="${email}" required autocomplete="username"
          autocapitalize="none" spellcheck="false"${described}${problem ? '' : html` autofocus`}>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" required autocomplete="current-password"
          ${described}${problem ? html` autofocus` : ''}>
        <button type="submit">Sign in</button>
      </form>`,
  );
}

/** A page that says why it cannot go on, without a way back to an address that nobody registered. */
export function errorPage(message: string): Html {
  return page(
    'Sign-in is not possible',
    html`<h1>Sign-in is not possible</h1><p role="alert">${message}</p>`,
  );
}

function page(title: string, content: Html): Html {
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

/** The style sheet of these pages. */
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
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
}
main {
  width: min(24rem, 100%); padding: 2rem; border-radius: 1rem; background: var(--card);
  box-shadow: 0 1px 2px rgb(0 0 0 / 0.12), 0 8px 24px rgb(0 0 0 / 0.08);
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.2; }
h1 + p { margin: 0.25rem 0 1.5rem; color: var(--soft); }
form { display: grid; gap: 0.375rem; }
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
[aria-invalid='true'] { border-color: var(--bad); }
`;

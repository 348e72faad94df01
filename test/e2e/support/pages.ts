// Serves pages with the built widget on their own origin, under the strictest content security policy (CSP) of the documentation.
import { existsSync, readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EVENT_NAMES } from '../../../demo/event-log.ts';
import { builtWidget } from '../../support/built.ts';

const TYPES: Record<string, string> = {
  js: 'text/javascript',
  html: 'text/html; charset=utf-8',
  map: 'application/json',
};

export interface Pages {
  readonly origin: string;
  /** Allows requests and frames to these origins in the policy. */
  allow(...origins: string[]): void;
  /** Adds a page at `path` with the HTML `element` in its body, or as a whole if it starts with a doctype. Returns its URL. */
  add(path: string, element: string): string;
  /** Replaces the policy of the page at `path` with the result of `change`, which gets the default policy. */
  changePolicy(path: string, change: (policy: string) => string | undefined): void;
  /**
   * Serves the script at `path` with this policy, which applies if the script runs as a worker. Scripts have no policy by default.
   */
  setPolicy(path: string, policy: string | undefined): void;
  /** Serves `text` at the path of a script, instead of the built file. */
  setScript(path: string, text: string): void;
  /** Responds with 404 to scripts whose path matches, as a site does after a release. Without a pattern, to none. */
  withdraw(pattern?: RegExp): void;
  /** Forwards requests for other paths to this port of the same machine, as a reverse proxy does. */
  forward(port: number): void;
  /** Additional response headers of pages and scripts, by path. */
  readonly headers: Record<string, Readonly<Record<string, string>>>;
  /** CSP violations that browsers reported. */
  readonly violations: string[];
  close(): Promise<void>;
}

/**
 * Script that records the events of the widget, but for those of chunks, in `globalThis.events`, and the time at which its engine
 * starts in `startedAtMs`. Reports CSP violations, and loads the widget.
 */
const RECORDER = `
const names = ${JSON.stringify(EVENT_NAMES.filter((name) => !name.startsWith('chunk-')))};
globalThis.events = [];
for (const name of names) document.addEventListener(name, ({ detail }) => {
  const { respondWith, ...plain } = detail;
  events.push({ name, detail: structuredClone(plain), atMs: performance.now() });
});
document.addEventListener('securitypolicyviolation', (event) => {
  fetch('/violation', { method: 'POST', body: event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample });
});
for (const element of document.querySelectorAll('[data-engine-options]')) {
  element.engineOptions = JSON.parse(element.dataset.engineOptions);
}
for (const element of document.querySelectorAll('[data-token]')) {
  element.getToken = async () => element.dataset.token;
}
customElements.whenDefined('secure-uploader').then(() => { globalThis.startedAtMs = performance.now(); });
await import('/secure-uploader.min.js');
`;

/**
 * Adds the CSP violation that a page reports to `violations`. Ignores the favicon: browsers request it on their own, at any time.
 */
function recordViolation(request: IncomingMessage, response: ServerResponse, violations: string[]): void {
  let report = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    report += text;
  });
  request.on('end', () => {
    if (!/^img-src \S+\/favicon\.ico(\s|$)/.test(report)) violations.push(report);
    response.end();
  });
}

function pass(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, url, headers } = request;
  const onAnswer = (answer: IncomingMessage): void => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  };
  const forwarded = send({ port, host: '127.0.0.1', method, path: url, headers }, onAnswer);
  // A connection that breaks behind the proxy breaks for the page, too.
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
}

export async function startPages(host = '127.0.0.1'): Promise<Pages> {
  const widget = builtWidget();
  const pages = new Map<string, string>();
  const scripts = new Map([['/recorder.js', RECORDER]]);
  const allowed: string[] = [];
  const policies = new Map<string, (policy: string) => string | undefined>();
  const scriptPolicies = new Map<string, string | undefined>();
  const headers: Pages['headers'] = {};
  const violations: string[] = [];
  let forwardPort: number | undefined;
  let withdrawn: RegExp | undefined;
  const policy = (): string =>
    [
      "default-src 'none'",
      "script-src 'self'",
      "worker-src 'self' blob:",
      `connect-src 'self' ${allowed.join(' ')}`,
      'media-src blob:',
      `frame-src 'self' ${allowed.join(' ')}`,
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types secure-uploader lit-html',
    ].join('; ');
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/violation') {
      recordViolation(request, response, violations);
      return;
    }
    if (withdrawn?.test(pathname)) {
      response.writeHead(404).end();
      return;
    }
    const file = join(widget, pathname.slice(1));
    const text = pages.get(pathname) ?? scripts.get(pathname);
    const isBuilt = /^\/[\w.-]+\.(js|html|map)$/.test(pathname) && existsSync(file);
    if (text === undefined && !isBuilt) {
      if (forwardPort !== undefined) pass(request, response, forwardPort);
      else response.writeHead(404).end();
      return;
    }
    const extension = pages.has(pathname) ? 'html' : (pathname.split('.').at(-1) ?? '');
    const change = policies.get(pathname) ?? ((policy) => policy);
    const contentPolicy = extension === 'html' ? change(policy()) : scriptPolicies.get(pathname);
    response.writeHead(200, {
      'content-type': TYPES[extension] ?? 'text/plain',
      'cache-control': extension === 'html' ? 'no-cache' : 'no-store',
      ...(contentPolicy !== undefined && { 'content-security-policy': contentPolicy }),
      ...headers[pathname],
    });
    response.end(text ?? readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    headers,
    violations,
    allow: (...origins) => void allowed.push(...origins),
    withdraw: (pattern) => {
      withdrawn = pattern;
    },
    forward: (port) => {
      forwardPort = port;
    },
    changePolicy: (path, change) => void policies.set(path, change),
    setScript: (path, text) => void scripts.set(path, text),
    setPolicy: (path, policy) => void scriptPolicies.set(path, policy),
    add(path, element) {
      const head =
        '<meta charset="utf-8"><title>A page</title><script type="module" src="/recorder.js"></script>';
      const document = `<!doctype html><html lang="en"><head>${head}</head><body>${element}</body></html>`;
      pages.set(path, element.startsWith('<!doctype') ? element : document);
      return origin + path;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

// The parts of the site (`npm start`, `npm run build:site`) that are not in demo/: the documents as pages, and what all pages
// share.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';

const root = fileURLToPath(new URL('..', import.meta.url));
const demo = join(root, 'demo');

const MENU = [
  ['index.html', 'Start'],
  ['index.html#get-it', 'Get it'],
  ['playground.html', 'Playground'],
  ['states.html', 'States'],
  ['recipes.html', 'Recipes'],
  ['docs/readme.html', 'Documentation'],
];

/** Paths of the documents, each below a title. */
const GROUPS = {
  Start: ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'],
  Guides:
    'limits forms resume photos theming i18n accessibility frameworks migration troubleshooting tracing s3'.split(
      ' ',
    ),
  Reference:
    'reference authentication service faults upload-states sign-in-states performance survival browsers'.split(
      ' ',
    ),
  Understand: ['docs/architecture.md', 'docs/glossary.md', 'docs/flaky-tests.md', 'src/README.md'],
  Decisions: readdirSync(join(root, 'docs/decisions')).map((name) => `decisions/${name.slice(0, -3)}`),
};
for (const [group, names] of Object.entries(GROUPS))
  GROUPS[group] = names.map((name) => (name.endsWith('.md') ? name : `docs/${name}.md`));

/** Paths of all documents on the site, relative to the root of the repository. */
export const DOCUMENTS = Object.values(GROUPS).flat();
/** Images of the documents. */
export const IMAGES = ['docs/screenshot.png', 'docs/parts.png'];

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
const read = (path) => readFileSync(join(root, path), 'utf8');
const titleOf = (path) => /^# (.+)$/m.exec(read(path))[1].replace(/`/g, '');

/** Returns the path of a document's page on the site: `docs/forms.html` for `docs/forms.md`, `docs/readme.html` for `README.md`. */
export const pageOf = (path) =>
  `docs/${path
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'readme.md')
    .replace(/\.md$/, '.html')}`;

/** Returns the target on the site of a link in the document `from`, or `undefined` for a file that is not on the site. */
function targetOf(href, from) {
  const [path, anchor] = href.split('#');
  const target = path ? posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '') : from;
  const page =
    target === 'docs/decisions'
      ? pageOf(GROUPS.Decisions[0])
      : DOCUMENTS.includes(target)
        ? pageOf(target)
        : IMAGES.includes(target) && target;
  return page && page + (anchor ? `#${anchor}` : '');
}

/**
 * Returns the content of a document as HTML. `at` is the page that shows it. `only` is the anchor of a heading: the content is then
 * that of this section, without its heading; for the title of the document, what is above the first section.
 */
export function render(path, at, only) {
  const seen = new Map();
  const anchorOf = (text) => {
    const anchor = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replace(/ /g, '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count ? `${anchor}-${count}` : anchor;
  };
  const local = (href) => {
    const target = targetOf(href, path);
    return (
      target &&
      (posix.relative(posix.dirname(at), target.split('#')[0]) || posix.basename(at)) +
        target.replace(/^[^#]*/, '')
    );
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, anchor }) {
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = /^(https?|mailto):/.test(href) ? href : local(href);
        return target ? `<a href="${escaped(target)}">${text}</a>` : text;
      },
      image: ({ href, text }) => `<img src="${local(href)}" alt="${escaped(text)}" loading="lazy" />`,
      code: ({ text }) => codeBlock(text),
      table(token) {
        const row = (cells, tag, none = '') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens) || none}</${tag.slice(0, 2)}>`).join('')}</tr>`;
        // A table needs a name for each column.
        const head = row(token.header, 'th scope="col"', '<span class="unseen">Row</span>');
        const body = token.rows.map((cells) => row(cells, 'td')).join('');
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
      },
    },
  });
  const tokens = marked.lexer(read(path));
  for (const token of tokens)
    if (token.type === 'heading') token.anchor = anchorOf(token.text.replace(/[`*]|\]\([^)]*\)/g, ''));
  if (only === undefined) return marked.parser(tokens);
  const start = tokens.findIndex(({ anchor }) => anchor === only);
  if (start < 0) throw new Error(`${path} has no section #${only}`);
  const length = tokens
    .slice(start + 1)
    .findIndex(({ type, depth }) => type === 'heading' && depth <= Math.max(2, tokens[start].depth));
  const end = length < 0 ? tokens.length : start + 1 + length;
  return marked.parser(tokens.slice(start + 1, end));
}

const codeBlock = (text) =>
  `<pre tabindex="0" role="group" aria-label="Code"><code>${escaped(text)}</code></pre>`;

/** Returns the header of the page `at`, and what browsers without JavaScript show if the page needs it. */
function header(at, needsScript) {
  const up = '../'.repeat(at.split('/').length - 1);
  const isCurrent = (page) => page === at || (page.startsWith('docs/') && at.startsWith('docs/'));
  const links = MENU.map(
    ([page, name]) => `<a href="${up}${page}"${isCurrent(page) ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  const notice = `<noscript><p class="notice">The uploader on this page needs JavaScript, which is off in your browser. The
    <a href="${up}docs/readme.html">documentation</a> works without it.</p></noscript>`;
  return `<a class="skip" href="#main">Skip to the content</a>
    <header class="bar"><nav aria-label="Site"><a class="brand" href="${up}index.html">secure-uploader</a> ${links.join(' ')}</nav></header>
    ${needsScript ? notice : ''}`;
}

const RECIPE = /<!-- recipe ((\S+?)#(\S+)): (.+?) -->/g;

/**
 * Fills in a page of demo/: `<!-- header -->`, `<!-- docs/forms.md#validation -->` (a section of a document),
 * `<!-- link docs/forms.md#validation: Validation -->`, `<!-- recipe docs/forms.md#validation: Require a file -->` (a section with
 * another title) and `<!-- recipes -->` (their titles).
 */
export const fill = (html, at) =>
  html
    .replace('<!-- header -->', () => header(at, html.includes('<script')))
    .replace('<!-- recipes -->', () => {
      const items = [...html.matchAll(RECIPE)].map(
        ([, , , id, title]) => `<li><a href="#${id}">${title}</a></li>`,
      );
      return `<ul>${items.join('')}</ul>`;
    })
    .replace(
      RECIPE,
      (_all, place, _path, id, title) =>
        `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><!-- ${place} --><p><!-- link ${place}: More about it --></p></section>`,
    )
    .replace(/<!-- link (\S+?)(#\S+)?: (.+?) -->/g, (_all, path, anchor = '', text) => {
      render(path, at, anchor.slice(1) || undefined); // throws if there is no such section
      return `<a href="${pageOf(path)}${anchor}">${text}</a>`;
    })
    .replace(/<!-- (\S+\.md)#(\S+) -->/g, (_all, path, anchor) => render(path, at, anchor));

/** Returns the page of a document. `style` is the address of the style sheet, and `policy` a tag with a Content Security Policy. */
export function documentPage(path, style, policy = '') {
  const at = pageOf(path);
  const groups = Object.entries(GROUPS).map(([group, paths]) => {
    const items = paths.map((each) => {
      const href = posix.relative(posix.dirname(at), pageOf(each));
      return `<li><a href="${href}"${each === path ? ' aria-current="page"' : ''}>${escaped(titleOf(each))}</a></li>`;
    });
    const isOpen = paths.includes(path) || group !== 'Decisions';
    return `<details${isOpen ? ' open' : ''}><summary>${group}</summary><ul>${items.join('')}</ul></details>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="description" content="${escaped(titleOf(path))}: documentation of secure-uploader" />
    ${policy}
    <title>${escaped(titleOf(path))} · secure-uploader</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${'../'.repeat(at.split('/').length - 1)}${style}" />
  </head>
  <body>
    ${header(at, false)}
    <div class="book">
      <main id="main" class="text">${render(path, at)}</main>
      <nav class="contents" aria-label="Documents">${groups.join('')}</nav>
    </div>
  </body>
</html>
`;
}

/** For the built site. Connections depend on where the service is. */
const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' http://localhost:* http://127.0.0.1:* https:; frame-src http://localhost:* http://127.0.0.1:* https:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types lit-html secure-uploader" />`;

/** Paths of the pages in demo/. */
export const PAGES = readdirSync(demo).filter((name) => name.endsWith('.html'));

/** Vite plugin for the mode `site`: fills in the pages of demo/, and adds the documents and the callback page. */
export const site = {
  name: 'site',
  config: () => ({
    base: './', // a static host may serve the site in a folder
    build: {
      target: 'es2022',
      assetsInlineLimit: 0, // The policy of the pages allows no `data:` scripts and styles.
      rollupOptions: {
        input: {
          ...Object.fromEntries(PAGES.map((page) => [page, join(demo, page)])),
          'secure-uploader-callback': join(root, 'src/auth/callback.ts'),
        },
        output: {
          entryFileNames: ({ name }) =>
            name === 'secure-uploader-callback' ? '[name].js' : 'assets/[name]-[hash].js',
        },
      },
    },
  }),
  configureServer(server) {
    const pages = new Map(DOCUMENTS.map((path) => [`/${pageOf(path)}`, path]));
    server.middlewares.use((request, response, next) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      const path = pages.get(pathname);
      const image = IMAGES.find((image) => pathname === `/${image}`);
      if (!path && !image) return next();
      response.setHeader('content-type', image ? 'image/png' : 'text/html; charset=utf-8');
      response.end(image ? readFileSync(join(root, image)) : documentPage(path, 'site.css'));
    });
  },
  transformIndexHtml: {
    order: 'pre',
    handler(html, { filename, server }) {
      const filled = fill(html, relative(demo, filename));
      return server ? filled : filled.replace('<title>', `${policy}\n    <title>`);
    },
  },
  generateBundle(_options, bundle) {
    const style = Object.keys(bundle).find((name) => /\bsite\b.*\.css$/.test(name));
    for (const path of DOCUMENTS)
      this.emitFile({ type: 'asset', fileName: pageOf(path), source: documentPage(path, style, policy) });
    for (const fileName of IMAGES)
      this.emitFile({ type: 'asset', fileName, source: readFileSync(join(root, fileName)) });
    this.emitFile({
      type: 'asset',
      fileName: 'secure-uploader-callback.html',
      source: read('src/auth/secure-uploader-callback.html'),
    });
  },
};

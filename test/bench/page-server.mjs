// Serves the page that clients run in, on a separate origin. Bundles the clients, and the widget as an app would load it. Also for
// test/survival.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const html =
  '<!doctype html><meta charset="utf-8"><title>bench</title><input type="file" multiple><script type="module" src="/clients.js"></script>';

/**
 * Starts the server on a free port. `entries` are the scripts of the page by name, `clients` the first one, `compare` the folder of
 * another checkout; `withKeeper` adds `/file-keeper.js`. Returns `{origin, widgetScript, comparedScript, stop()}`; a script is
 * undefined if it is not requested or built.
 */
export async function servePage({
  entries = { clients: join(here, 'page/main.js'), 'raw-worker': join(here, 'page/raw-worker.js') },
  withWidget,
  withKeeper,
  dist,
  compare,
}) {
  const bringWidget = dist ? readDist : () => bundleWidget(root, 'widget');
  const [clients, keeper, widget, compared] = await Promise.all([
    bundlePage(entries),
    withKeeper ? bundlePage({ 'file-keeper': join(root, 'src/engine/resume/keeper/file-keeper.ts') }) : [],
    withWidget ? bringWidget() : undefined,
    compare ? bundleWidget(compare, 'compared') : undefined,
  ]);
  const files = new Map([['/', { type: 'text/html', bytes: html }]]);
  for (const [name, bytes] of [...clients, ...keeper, ...(widget?.files ?? []), ...(compared?.files ?? [])]) {
    files.set(`/${name}`, {
      type: name.endsWith('.js') ? 'text/javascript' : 'application/octet-stream',
      bytes,
    });
  }
  const server = createServer((request, response) => {
    const file = files.get(new URL(request.url, 'http://page').pathname);
    response.writeHead(file ? 200 : 404, file && { 'content-type': file.type });
    response.end(file?.bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    widgetScript: widget && `/${widget.entry}`,
    comparedScript: compared && `/${compared.entry}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

const common = {
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  write: false,
};
const named = ({ outputFiles }, folder) =>
  outputFiles.map(({ path, contents }) => [path.slice(folder.length), contents]);

// The peers are installed here, also for pages in other folders.
async function bundlePage(entryPoints) {
  const nodePaths = [join(here, 'node_modules')];
  return named(await build({ ...common, entryPoints, nodePaths, outdir: here }), here);
}

// Puts all files in one folder, as in the built package, because the widget loads its worker from its own folder.
async function bundleWidget(folder, name) {
  const define = join(folder, 'src/define.ts');
  if (!existsSync(define)) return undefined;
  const pipeline = join(folder, 'src/pipeline');
  const bundleEntries = (entryPoints, options) =>
    build({ ...common, entryPoints, outdir: here, chunkNames: `${name}/[name]-[hash]`, ...options });
  const workers = readdirSync(pipeline).filter((file) => file.endsWith('.worker.ts'));
  const bundles = await Promise.all([
    bundleEntries({ [`${name}/define`]: define }, { splitting: true }),
    // Each worker is one file, as in the package.
    ...workers.map((file) => bundleEntries({ [`${name}/${file.slice(0, -3)}`]: join(pipeline, file) })),
  ]);
  return { entry: `${name}/define.js`, files: bundles.flatMap((result) => named(result, here)) };
}

function readDist() {
  const folder = join(root, 'dist/cdn');
  if (!existsSync(folder)) throw new Error('there is no dist/cdn: run "npm run build" first');
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const entry = names.find((name) => /^secure-uploader(\.min)?\.js$/.test(name));
  if (!entry) throw new Error(`dist/cdn has no secure-uploader.js, only ${names.join(', ')}`);
  return {
    entry: `widget/${entry}`,
    files: names.map((name) => [`widget/${name}`, readFileSync(join(folder, name))]),
  };
}

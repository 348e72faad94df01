// A page with the uploader, to try the service: `npm run page`. Build the package first (`npm run build` in its folder).
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endUnread, PATIENCE } from './shutdown.ts';

const { DEMO_TOKEN, DEMO_FOLDER, PAGE_PORT = 5173, SERVICE_URL = 'http://127.0.0.1:8080' } = process.env;
const scripts = new URL('../../../dist/cdn/', import.meta.url);
const html = `<!doctype html><meta charset="utf-8"><title>Upload to S3</title>
<script type="module">
  await import('/secure-uploader.min.js');
  const uploader = document.querySelector('secure-uploader');
  uploader.profile = { sendSizes: true, minChunkSize: 5 * 2 ** 20 };
  uploader.getToken = () => '${DEMO_TOKEN}';
  uploader.baseUrl = '${SERVICE_URL}';
</script>
<secure-uploader parent-id="${DEMO_FOLDER}" auth="token" commit-path="/files/uploadsession/commit"
  cancel-path="/files/uploadsession" multiple></secure-uploader>`;

/** A file of the widget, or the page. */
async function bodyOf(url: string): Promise<string | Buffer | undefined> {
  const name = /^\/([\w.-]+\.js)$/.exec(url)?.[1];
  return name ? readFile(new URL(name, scripts)).catch(() => undefined) : html;
}

const server = createServer(PATIENCE, async (request, response) => {
  const { port } = server.address() as AddressInfo;
  const end = (status: number, type: string, body: string | Buffer) =>
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  // A foreign name that resolves to this machine would make the page, with its token, a page of that site (DNS rebinding).
  const isOwn = [`localhost:${port}`, `127.0.0.1:${port}`].includes(
    request.headers.host?.toLowerCase() ?? '',
  );
  if (!isOwn) return end(421, 'text/plain', 'This host is not served here.');
  if (request.method !== 'GET') return end(405, 'text/plain', 'There are only pages here.');
  const url = request.url ?? '';
  const body = await bodyOf(url);
  if (!body) return end(404, 'text/plain', 'There is no such file. Run `npm run build` first.');
  return end(200, url.endsWith('.js') ? 'text/javascript' : 'text/html', body);
});
endUnread(server);
server.listen(Number(PAGE_PORT), '127.0.0.1', () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`);
});

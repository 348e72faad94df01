// A page with the uploader, to try the service: `npm run page`. Build the package first (`npm run build` in its folder).
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

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

createServer(async (request, response) => {
  const name = /^\/([\w.-]+\.js)$/.exec(request.url ?? '')?.[1];
  const body = name ? await readFile(new URL(name, scripts)).catch(() => undefined) : html;
  response.writeHead(body ? 200 : 404, { 'content-type': name ? 'text/javascript' : 'text/html' }).end(body);
}).listen(Number(PAGE_PORT), '127.0.0.1', () => console.log(`http://localhost:${PAGE_PORT}`));

// Starts the service from the command line: `npm run service -- --port 8787 --origin http://localhost:5173`.
import { parseArgs } from 'node:util';
import { startOnFreePorts } from './free-ports.ts';
import type { HashName, ServiceOptions } from './options.ts';
import type { Service } from './server.ts';

const HELP = `The reference service.
  --port N            port of the service (default 8787, or the next free one)
  --storage-port N    port of the storage (default: the next free one after 8787 and the service)
  --data PATH         where state, keys and bytes lie (default .data)
  --origin URL        origin of a page that may use it; may be repeated (default http://localhost:5173)
  --redirect-uri URL  exact callback address; may be repeated (default: /secure-uploader-callback.html of every origin)
  --host NAME         localhost (default) or 127.0.0.1
  --hash NAME         sha-256 (default) or blake3
  --base-url URL      origin under which a reverse proxy publishes the service (https: cookies are bound to the host)
  --storage-url URL   the same for the storage
  --trusted-proxy IP  address or network of a reverse proxy that tells client addresses; may be repeated
  --token-lifetime S  seconds a bearer token lives (default 900)
  --cross-site        session cookie for pages of other sites (None; Secure; Partitioned)
  --replant           sets the session cookie in the token answer too
  --batches           many small files in one request (batch-path)
  --plain             the sign-in page has plain forms, instead of the form of the widget
  --test              switches on faults, request log, /_test/* and /_demo; never in production`;

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    'storage-port': { type: 'string' },
    data: { type: 'string', default: '.data' },
    origin: { type: 'string', multiple: true, default: ['http://localhost:5173'] },
    'redirect-uri': { type: 'string', multiple: true },
    host: { type: 'string', default: 'localhost' },
    'base-url': { type: 'string' },
    'storage-url': { type: 'string' },
    'trusted-proxy': { type: 'string', multiple: true, default: [] },
    hash: { type: 'string', default: 'sha-256' },
    'token-lifetime': { type: 'string', default: '900' },
    'cross-site': { type: 'boolean', default: false },
    replant: { type: 'boolean', default: false },
    batches: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    test: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  const service = await startOnFreePorts(await readOptions()).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
  tell(service);
  const onSignal = (): void => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    void service.close();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

async function readOptions(): Promise<ServiceOptions> {
  return {
    dataDir: values.data,
    appOrigins: values.origin,
    host: values.host,
    hash: values.hash as HashName,
    tokenLifetimeMs: Number(values['token-lifetime']) * 1000,
    cookie: values['cross-site'] ? 'cross-site' : 'same-site',
    replant: values.replant,
    batches: values.batches,
    test: values.test,
    publicUrls: {
      ...(values['base-url'] && { service: values['base-url'] }),
      ...(values['storage-url'] && { storage: values['storage-url'] }),
    },
    trustedProxies: values['trusted-proxy'],
    ...(values.port && { servicePort: Number(values.port) }),
    ...(values['storage-port'] && { storagePort: Number(values['storage-port']) }),
    ...(values['redirect-uri'] && { redirectUris: values['redirect-uri'] }),
    ...(!values.plain && (await readLoginScript())),
  };
}

// Bundles the widget's form for the sign-in page. If the project's dev dependencies are missing, the page uses plain forms.
async function readLoginScript(): Promise<{ loginScript?: string }> {
  try {
    const { buildLoginPage } = await import('../../scripts/login-page.mjs');
    return { loginScript: await buildLoginPage() };
  } catch (error) {
    console.log(
      `Sign-in  plain forms, since the form of the widget was not bundled: ${(error as Error).message}`,
    );
    return {};
  }
}

function tell({ baseUrl, storageUrl, seed }: Service): void {
  console.log(`Service  ${baseUrl}\nStorage  ${storageUrl}\nPages    ${values.origin.join(', ')}`);
  console.log(`Users    ${seed.users.map(({ email }) => email).join(', ')}`);
  console.log(`Password ${seed.password}`);
  console.log(`Folders  ${seed.folders.map(({ id, name }) => `${id} (${name})`).join(', ')}`);
  if (values.test) console.log('Test mode: anyone can switch on faults and get tokens.');
}

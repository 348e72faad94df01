// The service that the site uses, and tokens for it. In production, your own server gets tokens.

import type { SecureUploader } from 'secure-uploader';

/** Content of `demo-config.json`, which `npm start` serves. */
export interface DemoConfig {
  readonly baseUrl: string;
  readonly storageUrl: string;
  readonly seed: {
    readonly users: readonly { readonly email: string; readonly name: string; readonly about?: string }[];
    readonly folders: readonly { readonly id: string; readonly name: string }[];
    readonly password: string;
  };
}

/** Resolves with the service of the site, or with `undefined` if the site has none; then the page says so. */
export async function loadConfig(): Promise<DemoConfig | undefined> {
  try {
    const config = (await (await fetch('demo-config.json')).json()) as Partial<DemoConfig>;
    if (config.baseUrl && config.storageUrl && config.seed?.users) return config as DemoConfig;
    throw new TypeError('no service');
  } catch {
    const notice = document.createElement('p');
    notice.className = 'notice';
    notice.textContent =
      'This copy of the site has no service, so nothing can be uploaded here. Run “npm start” in the repository.';
    document.querySelector('main')?.prepend(notice);
    for (const element of document.querySelectorAll<HTMLElement>('secure-uploader, [data-service]'))
      element.hidden = true;
    return undefined;
  }
}

/** What the code to copy shows on a site without a service. */
const PLACEHOLDERS = { baseUrl: 'https://files.example.com', storageUrl: 'https://storage.example.com' };

/** Sets the attributes that each element of the site needs. */
export function connect(element: SecureUploader, config: DemoConfig | undefined): void {
  const { baseUrl, storageUrl } = config ?? PLACEHOLDERS;
  const attributes = {
    'base-url': baseUrl,
    'upload-origins': storageUrl,
    'parent-id': config?.seed.folders[0]?.id ?? 'folder-a',
    'commit-path': '/files/uploadsession/commit',
    'cancel-path': '/files/uploadsession',
  };
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');

async function post<T>(url: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`The service returned ${answer.status}.`);
  return (await answer.json()) as T;
}

/** Resolves with a token for these credentials. Rejects if the service requires a second step. */
export async function signIn(
  baseUrl: string,
  email: string,
  password: string,
): Promise<{ token: string; expires_at: string }> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const code_challenge = base64url(new Uint8Array(digest));
  const credentials = { idp_id: 'local', email, password, code_challenge };
  const { code } = await post<{ code?: string }>(`${baseUrl}/auth/login`, credentials);
  if (!code) throw new Error('This user needs a second step. Sign in with the pop-up window instead.');
  return post(`${baseUrl}/auth/token`, { code, code_verifier: verifier });
}

/** Resolves with a new token of the first demo user. */
export const pageToken = ({ baseUrl, seed }: DemoConfig): ReturnType<typeof signIn> =>
  signIn(baseUrl, seed.users[0]?.email ?? '', seed.password);

const MOST_LISTED = 3;

/** Lists the newest uploaded files, each with a button that downloads it. Hides `nothing` with the first one. */
export async function listFinished(
  element: SecureUploader,
  config: DemoConfig,
  list: Element,
  nothing: HTMLElement,
): Promise<void> {
  const add = (id: string, name: string): void => {
    const item = document.createElement('li');
    const label = Object.assign(document.createElement('bdi'), { textContent: name });
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: 'Download',
    });
    const status = Object.assign(document.createElement('span'), { role: 'status' });
    button.ariaLabel = `Download ${name}`;
    button.addEventListener('click', async () => {
      status.textContent = 'Downloading…';
      await download(config, id, name).then(
        () => status.replaceChildren(),
        () => status.replaceChildren('The service does not respond.'),
      );
    });
    item.append(label, status, button);
    list.prepend(item);
    list.children[MOST_LISTED]?.remove();
    nothing.hidden = true;
  };
  element.addEventListener('upload-completed', ({ detail }) => {
    const { file_id } = (detail.commit ?? {}) as { file_id?: string };
    if (file_id) add(file_id, detail.name);
  });
  const address = `${config.baseUrl}/files?parent_id=${config.seed.folders[0]?.id}`;
  const { files = [] } = (await (await authorized(config, address)).json()) as {
    readonly files?: readonly { readonly file_id: string; readonly file_name: string }[];
  };
  for (const { file_id, file_name } of files.slice(0, MOST_LISTED).reverse()) add(file_id, file_name);
}

/** Sends a request with a token of the page. */
async function authorized(config: DemoConfig, address: string): Promise<Response> {
  const { token } = await pageToken(config);
  const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`The service returned ${answer.status}.`);
  return answer;
}

async function download(config: DemoConfig, fileId: string, name: string): Promise<void> {
  const answer = await authorized(config, `${config.baseUrl}/files/${encodeURIComponent(fileId)}`);
  const url = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

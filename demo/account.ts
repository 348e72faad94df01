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
    return (await (await fetch('demo-config.json')).json()) as DemoConfig;
  } catch {
    const notice = document.createElement('p');
    notice.className = 'notice';
    notice.textContent =
      'This copy of the site has no service, so nothing can be uploaded here. Run “npm start” in the repository.';
    document.querySelector('main')?.prepend(notice);
    for (const element of document.querySelectorAll('secure-uploader'))
      element.toggleAttribute('disabled', true);
    return undefined;
  }
}

/** Sets the attributes that each element of the site needs. */
export function connect(element: SecureUploader, { baseUrl, storageUrl, seed }: DemoConfig): void {
  const attributes = {
    'base-url': baseUrl,
    'upload-origins': storageUrl,
    'parent-id': seed.folders[0]?.id ?? '',
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

/** Lists each uploaded file with a button that downloads it. Hides `nothing` with the first one. */
export function listFinished(
  element: SecureUploader,
  config: DemoConfig,
  list: Element,
  nothing: HTMLElement,
): void {
  element.addEventListener('upload-completed', ({ detail }) => {
    const { file_id } = (detail.commit ?? {}) as { file_id?: string };
    if (!file_id) return;
    const item = document.createElement('li');
    const label = Object.assign(document.createElement('bdi'), { textContent: detail.name });
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: 'Download',
    });
    const status = Object.assign(document.createElement('span'), { role: 'status' });
    button.addEventListener('click', async () => {
      status.textContent = '';
      try {
        await download(config, file_id, detail.name);
      } catch (error) {
        status.textContent = (error as Error).message;
      }
    });
    item.append(label, status, button);
    list.prepend(item);
    nothing.hidden = true;
  });
}

async function download(config: DemoConfig, fileId: string, name: string): Promise<void> {
  const { token } = await pageToken(config);
  const answer = await fetch(`${config.baseUrl}/files/${encodeURIComponent(fileId)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`The service returned ${answer.status}.`);
  const url = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

// Gets a token with the user's password, for a page with its own sign-in. Only for the demo: in production, users should enter
// passwords on the service's own page.

/** Content of `/demo-config.json`, which `npm start` serves. */
export interface DemoConfig {
  readonly baseUrl: string;
  readonly seed: {
    readonly users: readonly { readonly email: string; readonly name: string; readonly about?: string }[];
    readonly folders: readonly { readonly id: string; readonly name: string }[];
    readonly password: string;
  };
}

export const loadConfig = async (): Promise<DemoConfig> =>
  (await (await fetch('/demo-config.json')).json()) as DemoConfig;

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

/** Downloads a finished file. */
export async function download(baseUrl: string, fileId: string, name: string, token: string): Promise<void> {
  const answer = await fetch(`${baseUrl}/files/${encodeURIComponent(fileId)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`The service returned ${answer.status}.`);
  const url = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

// How a page that has a sign-in of its own gets a token of the service: password, code, token, as the interface has it.
// Demonstration only: the widget's own window is the better place for passwords.

/** What `npm start` tells the pages. */
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
  if (!answer.ok) throw new Error(`The service refused: ${answer.status}`);
  return (await answer.json()) as T;
}

/** A bearer token for somebody whose password is enough. Rejects where the service wants more. */
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
  if (!code) throw new Error('This user has to sign in in the window');
  return post(`${baseUrl}/auth/token`, { code, code_verifier: verifier });
}

/** Fetches a finished file and gives it to the browser to save. */
export async function download(baseUrl: string, fileId: string, name: string, token: string): Promise<void> {
  const answer = await fetch(`${baseUrl}/files/${encodeURIComponent(fileId)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`The service refused: ${answer.status}`);
  const url = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

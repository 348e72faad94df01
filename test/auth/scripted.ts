// Sessions with scripted responses of the service. Sign-in uses a page that responds immediately, or a form.
import { FormRequests } from '../../src/auth/form.ts';
import type { AuthDeps, LoginForm } from '../../src/auth/types.ts';
import type { Post, PostAnswer } from '../../src/core/auth-options.ts';
import type { AuthTimes } from '../../src/core/auth-times.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { type Opened, open } from './open-session.ts';

/** Responses of the service in order. The last response is repeated. */
export type Script = readonly (PostAnswer | UploaderError)[];

export interface Sent {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly credentials: RequestCredentials;
  readonly headers?: Record<string, string>;
}

/** Returns a service that responds as `script` says, and the requests that the service received. */
export function follow(script: Script): { post: Post; sent: Sent[]; sentAtMs: number[] } {
  const sent: Sent[] = [];
  const sentAtMs: number[] = [];
  const post: Post = async (path, body, { credentials, headers }) => {
    sent.push({ path, body: body as Sent['body'], credentials, ...(headers && { headers }) });
    sentAtMs.push(performance.now());
    const line = script[Math.min(sent.length, script.length) - 1];
    if (!line || line instanceof UploaderError) throw line;
    return line;
  };
  return { post, sent, sentAtMs };
}

export const fixtures = new URL('./fixtures/', import.meta.url).href;

/** Opens a session whose sign-in page responds without the user. The page has no time limit: a slow machine loads it late. */
export function openSilent(
  script: Script,
  input: SettingsInput = {},
  times: Partial<AuthTimes> = {},
  onSignOut?: AuthDeps['onSignOut'],
): Opened & ReturnType<typeof follow> {
  const service = follow(script);
  const settings: SettingsInput = {
    auth: 'popup',
    silent: 'auto',
    authorizePath: `${fixtures}authorize.html`,
    redirectUri: `${fixtures}secure-uploader-callback.html`,
    ...input,
  };
  return { ...open(settings, { silentMs: 1e8, ...times }, service.post, undefined, onSignOut), ...service };
}

export type WithForm = Opened & { readonly form: LoginForm };

/** Opens a session that signs in by a form. */
export function openForm(
  script: Script,
  input: SettingsInput = {},
): WithForm & Pick<ReturnType<typeof follow>, 'sent'> {
  const { post, sent } = follow(script);
  const opened = open({ auth: 'local', ...input }, {}, post);
  return { ...opened, sent, form: opened.session.form((host) => new FormRequests(host)) };
}

/** Resolves when sign-in is in `state`. */
export async function signInReaches({ session }: Pick<Opened, 'session'>, state: string): Promise<void> {
  while (session.snapshot.state !== state) await new Promise<void>((resolve) => session.subscribe(resolve));
}

/** Returns a response with a token. */
export const granted = (more: object = {}): PostAnswer => ({
  status: 200,
  body: { token: 'service-token', ...more },
});

/** Returns a response that requires a challenge. */
export const challenged = (challenge_token: string, more: object = {}): PostAnswer => ({
  status: 200,
  body: { status: 'challenge', challenge_token, available_methods: ['totp', 'sms'], ...more },
});

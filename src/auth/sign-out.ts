// What is left of a session after a sign-out: the token for the last calls, for a few seconds, and a mark that keeps every
// page of this origin from signing in silently until a person acts.

import type { Settings } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { WithToken } from '../core/types.ts';
import { sleep } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import { callService, type Post } from './post.ts';
import type { AuthDeps } from './session.ts';

type OnSignOut = NonNullable<AuthDeps['onSignOut']>;

/** The last calls of a session that was signed out. */
export class LastCalls {
  readonly #settings: Settings;
  readonly #post: Post;
  readonly #ms: number;
  readonly #callers = new Set<{ readonly call: OnSignOut }>();
  #calls: Promise<unknown> = Promise.resolve();
  #leaving: Promise<void> | undefined;

  /** `ms` limits the calls of the callers, and then the one to `logout-path`. */
  constructor(settings: Settings, post: Post, ms: number) {
    this.#settings = settings;
    this.#post = post;
    this.#ms = ms;
  }

  /** Returns a function that removes the caller. */
  add(call: OnSignOut | undefined): () => void {
    const own = call && { call };
    if (own) this.#callers.add(own);
    return () => void (own && this.#callers.delete(own));
  }

  /** Lets the callers make their last calls with `token`, each once. Afterwards nothing here has the token. */
  begin(token: string | undefined): void {
    let last = token;
    const stop = new AbortController();
    const withToken: WithToken = async (call) => {
      const isAllowed = last !== undefined || this.#settings.auth === 'none';
      if (stop.signal.aborted || !isAllowed) throw new UploaderError('sign-in-required', 'Signed out');
      return call(last);
    };
    const all = Promise.allSettled([...this.#callers].map(({ call }) => call(withToken, stop.signal)));
    const end = (): void => {
      last = undefined;
      stop.abort();
    };
    this.#calls = Promise.race([all, sleep(this.#ms, stop.signal)]).then(end, end);
  }

  /** Signs out by `leave`, and tells the service after the last calls. Called again meanwhile, it returns the same promise. */
  once(leave: () => void): Promise<void> {
    const tell = async (): Promise<void> => {
      leave();
      await this.#calls;
      await this.#logOut();
      this.#leaving = undefined;
    };
    this.#leaving ??= tell();
    return this.#leaving;
  }

  async #logOut(): Promise<void> {
    const [settings, post] = [this.#settings, this.#post];
    if (!settings.logoutPath) return;
    // Not the session's signal: the element may be removed meanwhile.
    const context = { settings, post, signal: AbortSignal.timeout(this.#ms) };
    const answer = await callService('logout', {}, context).catch(() => undefined);
    if (!answer || answer.status >= 400)
      warnOnceHere('signing out: the call to logout-path failed, so the service may still know the person.');
  }
}

type Service = Pick<Settings, 'baseUrl' | 'clientId'>;
const markOf = ({ baseUrl, clientId }: Service): string =>
  `secure-uploader:signed-out:${baseUrl} ${clientId}`;

/** True where somebody signed out of this service in this browser, and nobody signed in since. */
export function hasSignedOut(service: Service): boolean {
  try {
    return localStorage.getItem(markOf(service)) !== null;
  } catch {
    return false;
  }
}

/** Sets or removes the mark. Where the browser allows no storage, it lasts as long as the page. */
export function markSignedOut(service: Service, isOut: boolean): void {
  try {
    if (isOut) localStorage.setItem(markOf(service), '1');
    else localStorage.removeItem(markOf(service));
  } catch {
    // Nothing can be kept here.
  }
}

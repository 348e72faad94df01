// Sign-in whose state the test sets, for uploads that wait for sign-in. Calls to the service are scripted too, and do not sign in.

import type { AuthSession } from '../../src/auth/types.ts';
import { connect } from '../../src/engine/connection.ts';
import type { ScriptedService } from './scripted-service.ts';

type Snapshot = AuthSession['snapshot'];

export class ScriptedSignIn {
  readonly #listeners = new Set<() => void>();
  #said: Partial<Snapshot> = {};

  /** Sets the state of sign-in. */
  say(said: Partial<Snapshot>): void {
    this.#said = said;
    for (const listener of this.#listeners) listener();
  }

  /** Returns a replacement for `connect`: connections to `baseUrl` have the scripted state of sign-in. */
  connectTo(baseUrl: string, service: ScriptedService): typeof connect {
    return (settings, ...rest) => {
      const connection = connect(settings, ...rest);
      const { calls, put } = service;
      const { auth } = connection;
      const said = (): Partial<Snapshot> => (settings.baseUrl === baseUrl ? this.#said : {});
      const scripted: AuthSession = {
        get snapshot() {
          return { ...auth.snapshot, ...said() };
        },
        subscribe: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
        withToken: auth.withToken,
        signIn: (...way) => auth.signIn(...way),
        cancel: () => auth.cancel(),
        signOut: (of) => auth.signOut(of),
        allow: () => auth.allow(),
        form: (create) => auth.form(create),
        close: () => auth.close(),
      };
      return { ...connection, auth: scripted, calls, put };
    };
  }
}

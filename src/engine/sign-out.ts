// Signing out: all upload data is deleted from this page and from the disk first, in every case. Then the uploads are canceled
// at the service; that is best effort.

import type { AuthSession } from '../auth/session.ts';
import type { Session, WithToken } from '../core/types.ts';
import { createUploadStore, type UploadStore } from '../store/uploads.ts';
import type { Commands } from './commands.ts';
import type { Service } from './connection.ts';
import type { Intake } from './intake.ts';

interface Leaving {
  /** Settles when nothing is left on this page and on the disk; rejects with `store-unavailable` where something is. */
  readonly deleted: Promise<void>;
  readonly open: readonly { readonly service: Service; readonly session: Session }[];
}

export class SignOut {
  readonly #commands: Commands;
  readonly #intake: Intake;
  readonly #store: UploadStore;
  #leaving: Leaving | undefined;

  constructor(commands: Commands, intake: Intake, store: UploadStore) {
    this.#commands = commands;
    this.#intake = intake;
    this.#store = store;
  }

  /** Signs out of all services. Resolves after the calls to the service; rejects with `store-unavailable` if data could not be deleted. */
  async begin(services: readonly Service[]): Promise<void> {
    const told = services.map(({ client }) => client.auth.signOut());
    const [deleted] = await Promise.allSettled([this.#leave().deleted, ...told]);
    if (deleted.status === 'rejected') throw deleted.reason;
  }

  /** Somebody signed out, here or in another tab: deletes everything, then cancels the uploads at the service, each in one try. */
  async onSignOut(auth: AuthSession, withToken: WithToken, signal: AbortSignal): Promise<void> {
    const { deleted, open } = this.#leave();
    await deleted.catch(() => undefined);
    const calls = open
      .filter(({ service }) => service.client.auth === auth)
      .map(({ session, service }) => service.client.calls.cancel?.(session, signal, withToken));
    await Promise.allSettled(calls);
  }

  #leave(): Leaving {
    if (this.#leaving) return this.#leaving;
    const open = this.#commands.all.flatMap(({ connection, phase, session, resumeState }) => {
      const known = session ?? resumeState.record?.session;
      const isOpen = phase !== 'done' && phase !== 'canceled';
      return known && isOpen ? [{ service: connection.service, session: known }] : [];
    });
    const leaving = { open, deleted: this.#delete() };
    this.#leaving = leaving;
    const end = (): void => {
      if (this.#leaving === leaving) this.#leaving = undefined;
    };
    leaving.deleted.then(end, end);
    return leaving;
  }

  async #delete(): Promise<void> {
    const stopped = this.#intake.abandon();
    const cleared = this.#store.clear();
    await Promise.allSettled([stopped, cleared]);
    // A run that was stopped may have saved something meanwhile.
    await this.#store.clear();
  }
}

/** Deletes what is saved of this origin's uploads, for a page whose settings allow no engine. */
export const deleteUploads = (): Promise<void> => createUploadStore().clear();

// Sign-out. First deletes all upload data in memory and on disk, even offline. Then tries to cancel the uploads on the service.

import type { AuthSession } from '../auth/types.ts';
import type { Session, WithToken } from '../core/types.ts';
import { dropKept } from '../keeper/drop-kept.ts';
import { createUploadStore } from '../store/uploads.ts';
import type { Service } from './connection.ts';
import { endPeriod } from './period.ts';
import type { Restorer, RestorerParts } from './restore.ts';

interface Leaving {
  /** Promise that resolves when all data is deleted. Rejects with `store-unavailable` if some data could not be deleted. */
  readonly deleted: Promise<void>;
  readonly open: readonly { readonly service: Service; readonly session: Session }[];
}

export interface SignOutParts extends Omit<RestorerParts, 'onReturn'> {
  readonly restorer: Restorer;
}

export class SignOut {
  readonly #parts: SignOutParts;
  #leaving: Leaving | undefined;

  constructor(parts: SignOutParts) {
    this.#parts = parts;
  }

  /**
   * Signs out from all services. Resolves after the sign-out calls, even if a call fails. Rejects with `store-unavailable` if some
   * data could not be deleted.
   */
  async begin(services: readonly Service[]): Promise<void> {
    endPeriod();
    const earlier = this.#leaving;
    const signedOut = services.map(({ client }) => client.auth.signOut());
    const [deleted] = await Promise.allSettled([this.#leave(earlier).deleted, ...signedOut]);
    if (deleted.status === 'rejected') throw deleted.reason;
  }

  /**
   * Deletes all upload data, then cancels each upload on the service without retries. Called on sign-out in this or another tab.
   */
  async onSignOut(auth: AuthSession, withToken: WithToken, signal: AbortSignal): Promise<void> {
    const { deleted, open } = this.#leave();
    // A service without uploads is closed, and would open with another sign-in session.
    const canceled = open
      .filter(({ service }) => service.client.auth === auth)
      .map(({ session, service }) => ({ session, calls: service.client.calls }));
    await deleted.catch(() => undefined);
    const calls = canceled.map(({ session, calls }) => calls.cancel?.(session, signal, withToken));
    await Promise.allSettled(calls);
  }

  /**
   * Removes the uploads of the previous `owner` from the list. If there was no owner (`''`), removes only uploads whose file this
   * page never had.
   */
  async leaveOwner(owner: string): Promise<void> {
    const { commands, restorer, scheduler } = this.#parts;
    this.#stopAdding();
    if (owner !== '') void restorer.dropKept();
    const left = scheduler.all.filter((upload) => owner !== '' || (!upload.picked && !upload.lost));
    await commands.applyTo(left, { type: 'leave' });
  }

  #stopAdding(): void {
    this.#parts.intake.stop();
    this.#parts.restorer.leave();
  }

  /** Deletes all data, or joins a deletion in progress. Does not join `earlier`, because files may have been added since. */
  #leave(earlier?: Leaving): Leaving {
    if (this.#leaving && this.#leaving !== earlier) return this.#leaving;
    const open = this.#parts.scheduler.all.flatMap(
      ({ connection, phase, session, resumeState, savedSession }) => {
        // The record may be written only later.
        const isAccepted = (savedSession?.acceptedAtMs ?? resumeState.record?.acceptedAtMs) !== undefined;
        const isOpen = phase !== 'done' && phase !== 'canceled' && !isAccepted;
        return session && isOpen ? [{ service: connection.service, session }] : [];
      },
    );
    const leaving = { open, deleted: this.#delete() };
    this.#leaving = leaving;
    const end = (): void => {
      if (this.#leaving === leaving) this.#leaving = undefined;
    };
    leaving.deleted.then(end, end);
    return leaving;
  }

  async #delete(): Promise<void> {
    const { commands, restorer, scheduler, store } = this.#parts;
    this.#stopAdding();
    const stopped = commands.applyTo(scheduler.all, { type: 'abandon' });
    const cleared = store.clear();
    await Promise.allSettled([stopped, cleared, restorer.dropKept()]);
    // A run may have saved data while it was being stopped.
    await store.clear();
  }
}

/**
 * Deletes the saved uploads of this origin, and the files that are kept for the next page. Used if the settings are too incomplete
 * to create an engine.
 */
export async function deleteUploads(): Promise<void> {
  endPeriod();
  await Promise.all([createUploadStore().clear(), dropKept()]);
}

// Sign-out. First deletes all upload data in memory and on disk, even offline. Then tries to cancel the uploads on the service.

import type { AuthSession } from '../auth/types.ts';
import type { Session, WithToken } from '../core/types.ts';
import { endPeriod } from '../core/user.ts';
import { whenSettled } from '../core/wait.ts';
import type { Service } from './connection.ts';
import { Deletion } from './resume/deletion.ts';
import type { Restorer, RestorerParts } from './resume/restore.ts';
import { SavedUploads } from './resume/upload-store.ts';

interface Leaving {
  /** Promise that resolves when all data is deleted. Rejects with `store-unavailable` if some data could not be deleted. */
  readonly deleted: Promise<void>;
  readonly open: readonly { readonly service: Service; readonly session: Session }[];
}

export interface SignOutParts extends Omit<RestorerParts, 'onReturn'> {
  readonly restorer: Restorer;
  readonly deletion: Deletion;
}

export class SignOut {
  readonly #parts: SignOutParts;
  #leaving: Leaving | undefined;

  constructor(parts: SignOutParts) {
    this.#parts = parts;
    parts.user.onChange((change) => {
      parts.snapshots.dismissRejections();
      // Each session says so, too, but a session that is closed does not. The command rejects with the error of a deletion, and
      // what is left is deleted before the next use of the store.
      if (change.type === 'signed-out') this.leave(change.isHere).catch(() => undefined);
    });
  }

  /**
   * Signs out from all services, and ends the period `of`, if it is not over yet. Resolves after the sign-out calls, even if a call
   * fails. Rejects with `store-unavailable` if some data could not be deleted.
   */
  async begin(services: readonly Service[], of: string): Promise<void> {
    const earlier = this.#leaving;
    endPeriod(of);
    const signedOut = services.map(({ client }) => client.auth.signOut(of));
    const [deleted] = await Promise.allSettled([this.leave(true, earlier), ...signedOut]);
    if (deleted.status === 'rejected') throw deleted.reason;
  }

  /** Cancels each upload on the service without retries, after the data is deleted. Called when the user has signed out. */
  async onSignOut(
    auth: AuthSession,
    withToken: WithToken,
    signal: AbortSignal,
    isHere: boolean,
  ): Promise<void> {
    const { deleted, open } = this.#leave(isHere);
    // A service without uploads is closed, and would open with another sign-in session.
    const canceled = open
      .filter(({ service }) => service.client.auth === auth)
      .map(({ session, service }) => ({ session, calls: service.client.calls }));
    await whenSettled(deleted);
    const calls = canceled.map(({ session, calls }) => calls.cancel?.(session, signal, withToken));
    await Promise.allSettled(calls);
  }

  /**
   * Deletes all data in memory, and that on disk: all of it if the user signs out in this page (`isHere`). The page of a sign-out
   * has already done that for the others, which may learn of it late: what is saved by then may be that of the next user. They
   * delete only what they have saved themselves. Joins a deletion in progress, but not `earlier`, because files may have been added
   * since.
   */
  leave(isHere: boolean, earlier?: Leaving): Promise<void> {
    return this.#leave(isHere, earlier).deleted;
  }

  /**
   * Removes the uploads of the previous `owner` from the list, because the page names another one. If there was no owner (`''`),
   * removes only uploads whose file this page never had.
   */
  async leaveOwner(owner: string, nextOwner: string): Promise<void> {
    const { commands, restorer, scheduler, user } = this.#parts;
    user.owner = nextOwner;
    this.#stopAdding();
    if (owner !== '') void restorer.dropKept();
    const leavingUploads = scheduler.all.filter((upload) => owner !== '' || (!upload.picked && !upload.lost));
    await commands.applyTo(leavingUploads, { type: 'leave' });
  }

  #stopAdding(): void {
    this.#parts.intake.stop();
    this.#parts.restorer.leave();
  }

  #leave(isHere: boolean, earlier?: Leaving): Leaving {
    if (this.#leaving && this.#leaving !== earlier) return this.#leaving;
    const open = this.#parts.scheduler.all.flatMap(
      ({ connection, phase, session, resumeState, savedSession }) => {
        // The record may be written only later.
        const isAccepted = (savedSession?.acceptedAtMs ?? resumeState.record?.acceptedAtMs) !== undefined;
        const isOpen = phase !== 'done' && phase !== 'canceled' && !isAccepted;
        return session && isOpen ? [{ service: connection.service, session }] : [];
      },
    );
    const leaving = { open, deleted: isHere ? this.#deleteAll() : this.#deleteOwn() };
    this.#leaving = leaving;
    const end = (): void => {
      if (this.#leaving === leaving) this.#leaving = undefined;
    };
    leaving.deleted.then(end, end);
    return leaving;
  }

  async #deleteAll(): Promise<void> {
    const { commands, deletion, restorer, scheduler } = this.#parts;
    this.#stopAdding();
    restorer.forgetKept();
    await deletion.run(commands.applyTo(scheduler.all, { type: 'abandon' }));
  }

  /** Deletes the records of the uploads in the list, unless they are those of uploads that began later. */
  async #deleteOwn(): Promise<void> {
    const { commands, restorer, scheduler, store } = this.#parts;
    this.#stopAdding();
    restorer.forgetKept();
    const listedRecords = scheduler.all.flatMap(({ resumeState: { record } }) => record ?? []);
    await commands.applyTo(scheduler.all, { type: 'abandon' });
    await Promise.all(listedRecords.map(({ key, createdAtMs }) => store.remove(key, createdAtMs)));
  }
}

/**
 * Deletes the saved uploads of this origin, and the files that are kept for the next page. Used if the settings are too incomplete
 * to create an engine.
 */
export const deleteUploads = (): Promise<void> => new Deletion(new SavedUploads()).run();

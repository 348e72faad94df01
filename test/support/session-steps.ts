// Sessions of the example for S3, and steps of their tests.
import { randomUUID } from 'node:crypto';
import type { Limits, Session, Sessions } from '../../demo/examples/service-s3/sessions.ts';

export const PLENTY: Limits = {
  unfinishedFiles: 1000,
  freeBytes: 1e12,
  filesPerDay: 1000,
  bytesPerDay: 1e12,
};

/** A set of sessions, and two connections to it. `pass` lets time pass for all its rows. */
export interface Setup {
  readonly one: Sessions;
  readonly other: Sessions;
  pass(ms: number): Promise<void> | void;
}

export const sessionOf = (user: string, sizeBytes = 10): Session => ({
  ...{ id: randomUUID(), fileId: randomUUID(), user, folder: 'folder-a', name: "a'; drop table x; --" },
  ...{ sizeBytes, state: 'open', digest: '', sentence: '' },
});

/** Opens one session. */
export const openOne = async (sessions: Sessions, session: Session, limits = PLENTY): Promise<unknown> =>
  (await sessions.open([{ session, limits }]))[0];
/** Adds chunks to one session. */
export const addTo = async (
  sessions: Sessions,
  id: string,
  sizes: Map<string, number>,
  most: number,
  mostBytes: number,
): Promise<unknown> => (await sessions.addChunks([{ id, sizes, most, mostBytes, isOpening: false }]))[0];

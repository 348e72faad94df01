// Test mode: applies the faults of single operations to the files of a batch. request-gate.ts applies those of the whole request.
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Fault, Faults, Operation } from './faults.ts';
import type { Parts } from './parts.ts';
import type { Answer } from './refusal.ts';
import { changeBody, hold, stringsOf } from './request-gate.ts';
import type { Uploads } from './uploads.ts';

/** Returns the operations with the faults of each file. The parts of a fault that concern a connection have no effect. */
export function createBatchGate(
  parts: Parts,
  faults: Faults,
  current: AsyncLocalStorage<Partial<Fault>>,
): (uploads: Uploads) => Uploads {
  const { signal } = parts.background;

  async function strike(
    operation: Operation,
    fileName: string | undefined,
    hashes: string[],
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const fault = faults.strike({ operation, hashes, fileName });
    await hold(fault, signal);
    const { status = 200, body = { debuginfo: 'a fault' }, headers = {} } = fault;
    if (fault.status !== undefined || fault.body !== undefined) return { status, body, headers } as Answer;
    const answer = await current.run({ ...current.getStore(), ...fault }, work);
    return {
      status: answer.status,
      body: changeBody(parts, fault, answer.body, hashes),
      headers: { ...answer.headers, ...headers },
    };
  }

  return (uploads) => ({
    ...uploads,
    async open(user, body) {
      const { file_name: name } = body;
      const fileName = typeof name === 'string' ? name : undefined;
      const answer = await strike('session', fileName, stringsOf(body.hashes), () =>
        uploads.open(user, body),
      );
      const { session_id: id } = answer.body;
      if (typeof id === 'string' && fileName !== undefined) faults.fileNames.set(id, fileName);
      return answer;
    },
    presign: (session, body) =>
      strike('chunks', session.fileName, stringsOf(body.hashes), () => uploads.presign(session, body)),
    commit: (session, body, gone) =>
      strike('commit', session.fileName, stringsOf(body.hashes), () => uploads.commit(session, body, gone)),
  });
}

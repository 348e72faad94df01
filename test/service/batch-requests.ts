// Batches whose requests a test answers.

import type { FileCall } from '../../src/service/batch-calls.ts';
import { createBatches } from '../../src/service/batches.ts';
import type { Answer, ServiceRequest } from '../../src/service/http.ts';
import { fillProfile } from '../../src/service/profile.ts';
import { meaningOfAnswer } from '../../src/service/wire.ts';
import { stopClock } from '../support/clock.ts';
import { deferred, settled } from '../support/collect.ts';

export const answerOf = (
  status: number,
  body: unknown = {},
  headers: Record<string, string> = {},
): Answer => ({
  status,
  address: 'https://service.test/batch',
  body,
  isEmpty: body === undefined,
  header: (name) => headers[name.toLowerCase()] ?? null,
});

const profile = fillProfile({ statuses: { 498: 'token', 420: 'slow-down', 499: 'retry' } });

/** Creates the batches of one kind, and stops the clock. The test answers each request. */
export function created() {
  const clock = stopClock();
  /** Lets so much time pass that the next two requests start. */
  const pass = async (): Promise<void> => {
    await clock.pass(5000);
    await clock.pass(5000);
  };
  const requests: {
    readonly names: readonly string[];
    readonly request: ServiceRequest;
    readonly answer: (answer: Answer) => Promise<void>;
    readonly fail: (error: Error) => Promise<void>;
  }[] = [];
  const alone: string[] = [];
  const { open: batches } = createBatches({
    send: (request) => {
      const { promise, resolve, reject } = deferred<Answer>();
      const { open } = request.body as { readonly open: readonly { readonly name: string }[] };
      requests.push({
        names: open.map(({ name }) => name),
        request,
        answer: (answer) => {
          resolve(answer);
          return settled();
        },
        fail: (error) => {
          reject(error);
          return settled();
        },
      });
      return promise;
    },
    path: '/batch',
    commitPatience: 10,
    meaningOf: (answer) => meaningOfAnswer(answer, profile),
    isFromElsewhere: ({ status }) => status === 404,
    sessionOf: ({ header }) => header('session') ?? 'in the body',
  });
  const aloneAnswers = new Map<string, Promise<Answer>>();
  const ask = (
    name: string,
    { token = 'token', signal = new AbortController().signal, ...others }: Partial<FileCall> = {},
  ): Promise<Answer> =>
    batches.ask({
      fields: { name },
      token,
      signal,
      ...others,
      sendAlone: () => {
        alone.push(name);
        return aloneAnswers.get(name) ?? Promise.resolve(answerOf(201, { name }));
      },
    });
  /** Lets the first call succeed alone. */
  const trust = async (): Promise<void> => {
    await ask('first');
    alone.length = 0;
  };
  const each = (names: readonly string[]): Answer =>
    answerOf(200, { answers: names.map((name) => ({ status: 201, body: { name } })) });
  /** Asks for a batch of these calls, and returns their answers when its request has this one. */
  const answered = async (names: readonly string[], answer: Answer): Promise<readonly Answer[]> => {
    const asked = names.map((name) => ask(name));
    await pass();
    await requests.at(-1)?.answer(answer);
    return Promise.all(asked);
  };
  return { batches, clock, pass, requests, alone, aloneAnswers, ask, trust, each, answered };
}
export const namesUpTo = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `file ${index}`);

// Batches: opens files in one, and reads its answers (U22).

import { answerOf, listOfAnswers } from '../service/batch-answers.ts';
import type { Context } from './context.ts';
import { answerFor, type Exchange } from './exchange.ts';
import { describe, isOk } from './finding.ts';

/** Returns the answers as they are, or `undefined` if there is no list of them. */
export const listIn = (response: Exchange): readonly unknown[] | undefined =>
  listOfAnswers(answerFor(undefined, response));

/** Returns each answer as if it were the response to a request of its own. Throws an error if there are none. */
export function answersOf(response: Exchange): Exchange[] {
  const answers = listIn(response);
  if (response.status !== 200 || !answers) throw new Error(describe(response));
  return answers.map((entry): Exchange => {
    const { status = 0, body, header } = answerOf(entry, answerFor(undefined, response)) ?? {};
    const delay = header?.('retry-after');
    return {
      ...response,
      status,
      headers: delay ? { 'retry-after': delay } : {},
      error: 'an answer without a status',
      json: body,
      text: JSON.stringify(body) ?? '',
    };
  });
}

/** Opens files, whose sessions are canceled at the end. */
export async function openBatch(c: Context, files: readonly object[]): Promise<Exchange> {
  const dialect = await c.dialect();
  const response = await c.call('batch', { body: { open: files } });
  for (const answer of listIn(response) ? answersOf({ ...response, status: 200 }) : []) {
    const session = isOk(answer) ? dialect.sessionOf(answer) : undefined;
    if (session !== undefined) c.sessionsToCancel.push(session);
  }
  return response;
}

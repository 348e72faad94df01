// Batches: opens files in one, and reads its answers (U22).

import type { Context } from './context.ts';
import { type Exchange, isFields } from './exchange.ts';
import { describe, isOk } from './finding.ts';

/** Returns the answers as they are, or `undefined` if there is no list of them. */
export function listIn({ json }: Exchange): readonly unknown[] | undefined {
  return isFields(json) && Array.isArray(json.answers) ? json.answers : undefined;
}

/** Returns each answer as if it were the response to a request of its own. Throws an error if there are none. */
export function answersOf(response: Exchange): Exchange[] {
  const answers = listIn(response);
  if (response.status !== 200 || !answers) throw new Error(describe(response));
  return answers.map((answer): Exchange => {
    const {
      status,
      body,
      retry_after: seconds,
    }: Readonly<Record<string, unknown>> = isFields(answer) ? answer : {};
    return {
      ...response,
      status: Number.isInteger(status) ? Number(status) : 0,
      headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
      error: 'an answer without a status',
      json: body,
      text: JSON.stringify(body) ?? '',
    };
  });
}

/** Returns the entries of the chunks in an answer. */
export const chunksOf = ({ json }: Exchange): Readonly<Record<string, unknown>> | undefined =>
  isFields(json) && isFields(json.chunks) ? json.chunks : undefined;

/** Opens files, whose sessions are canceled at the end. */
export async function openBatch(c: Context, files: readonly object[]): Promise<Exchange> {
  const { sessionOf } = await c.dialect();
  const response = await c.call('batch', { body: { open: files } });
  for (const answer of listIn(response) ? answersOf({ ...response, status: 200 }) : []) {
    const session = isOk(answer) ? sessionOf(answer) : undefined;
    if (session !== undefined) c.toCancel.push(session);
  }
  return response;
}

// Reads the response to a batch (U22): one answer for each file, in the order of the request.

import { UploaderError } from '../core/errors.ts';
import type { FileCall } from './batch-calls.ts';
import type { Answer } from './http.ts';

/** Largest part of a response for one file, in bytes. A URL with a signed security token has about 3 KiB. */
export const ANSWER_BYTES = 32_768;

// Not from http.ts: what this part of the code shares with others is a file of its own, which all pages load.
export const isOk = ({ status }: Answer): boolean => status >= 200 && status < 300;

/**
 * Returns false if the session in a valid response (U1) is not the same without its headers. `sessionOf` returns its header, and
 * throws if the response is not valid.
 */
export function isSessionInBody(answer: Answer, sessionOf: (answer: Answer) => string): boolean {
  let session: string;
  try {
    session = sessionOf(answer);
  } catch {
    return true;
  }
  try {
    return sessionOf({ ...answer, header: () => null }) === session;
  } catch {
    return false;
  }
}

/** Returns the answers as they are; `undefined` if there is no list of them. */
export function listOfAnswers({ body }: Answer): readonly unknown[] | undefined {
  const { answers } = Object(body) as { readonly answers?: unknown };
  return Array.isArray(answers) ? answers : undefined;
}

/**
 * Returns the answers of all files, as those of single calls; `undefined` for one that is not valid. Returns `undefined` if there
 * is not one for each of `count` files. Throws `bad-response` if the response is not JSON, for example from a proxy.
 */
export function answersOf(response: Answer, count: number): readonly (Answer | undefined)[] | undefined {
  if (response.body === undefined)
    throw new UploaderError('bad-response', 'The response to a batch is not JSON', {
      status: response.status,
    });
  const answers = listOfAnswers(response);
  return answers?.length === count ? answers.map((entry) => answerOf(entry, response)) : undefined;
}

/** Returns the answer of a file as the response to a call of its own; `undefined` if its status is not valid. */
export function answerOf(entry: unknown, { address, header }: Answer): Answer | undefined {
  const { status, body, retry_after } = Object(entry) as Record<string, unknown>;
  if (!Number.isInteger(status) || Number(status) < 200 || Number(status) > 599) return undefined;
  return {
    status: Number(status),
    address,
    body,
    isEmpty: body === undefined || body === null,
    header: (name) => {
      // `Date` is the same for all files. Every other header is of the request.
      if (/^date$/i.test(name)) return header(name);
      return /^retry-after$/i.test(name) && typeof retry_after === 'number' ? String(retry_after) : null;
    },
  };
}

/**
 * Returns true if an answer has the chunk of another file, and not that of its own: the answers are not in the order of the files.
 */
export function areMixed(answers: readonly (Answer | undefined)[], calls: readonly FileCall[]): boolean {
  const hashesOfCalls = calls.map(({ fields }) =>
    ((Object(fields).hashes ?? []) as readonly string[]).map(inLowerCase),
  );
  const allHashes = new Set(hashesOfCalls.flat());
  return answers.some((answer, at) => {
    const keys = Object.keys(Object(Object(answer?.body).chunks)).map(inLowerCase);
    return keys.some((key) => allHashes.has(key)) && !hashesOfCalls[at]?.some((hash) => keys.includes(hash));
  });
}

const inLowerCase = (text: string): string => text.toLowerCase();

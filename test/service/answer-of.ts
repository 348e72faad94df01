// Creates responses of the service for tests.

import type { Answer } from '../../src/service/http.ts';

export function answerOf(
  given: Partial<Answer> & { headers?: Readonly<Record<string, string>> } = {},
): Answer {
  const headers = new Headers(given.headers);
  const header = (name: string): string | null => headers.get(name);
  return { status: 200, address: 'https://api.test/x', body: {}, isEmpty: false, header, ...given };
}

// Creates mutations of the reference service, for services with one fault each.

import type { Mutation, Passing } from './mutant-proxy.ts';

/** A service with one fault. `check` is the check that fails. */
export interface Mutant {
  readonly fault: string;
  readonly check: string;
  /** True if the check evaluates the responses to all other checks, so that all of them have to run. */
  readonly needsAll?: boolean;
  readonly service?: Mutation;
  readonly storage?: Mutation;
}

export const SESSION = 'POST /files/uploadsession';
export const CHUNKS = 'POST /files/uploadsession/chunks';
export const COMMIT = 'POST /files/uploadsession/commit';
export const CANCEL = 'DELETE /files/uploadsession';
export const BATCH = 'POST /files/uploadsession/batch';

// biome-ignore lint/suspicious/noExplicitAny: mutations change any field of the JSON.
export type Json = any;

export const is = ({ method, path }: Passing, operation: string): boolean =>
  `${method} ${path}` === operation;
export const isOk = ({ response: { status } }: Passing): boolean => status >= 200 && status < 300;
export const jsonOf = (body: Buffer): Json => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
};

/** Responds with this status and body. Keeps the headers, such as those for CORS. */
export function respond({ response }: Passing, status: number, body: Json = { debuginfo: 'a fault' }): void {
  response.status = status;
  response.body = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  delete response.headers['content-length'];
}
export const onlyFor = (operation: string, change: (passing: Passing) => void): Mutation => ({
  after: (passing) => void (is(passing, operation) && change(passing)),
});
/** Changes the JSON of successful responses to an operation. */
export const changed = (operation: string, change: (json: Json, passing: Passing) => void): Mutation =>
  onlyFor(operation, (passing) => {
    if (!isOk(passing)) return;
    const json = jsonOf(passing.response.body);
    change(json, passing);
    respond(passing, passing.response.status, json);
  });
/** Changes each entry of presigned chunks. */
export const entries = (change: (entry: Json, index: number, passing: Passing) => void): Mutation =>
  changed(CHUNKS, ({ chunks }, passing) => {
    for (const [index, entry] of Object.values(chunks).entries()) change(entry, index, passing);
  });
/** Turns responses with `from` into `to`. */
export const statuses = (operation: string, from: number, to: number, body?: Json): Mutation =>
  onlyFor(operation, (passing) => void (passing.response.status === from && respond(passing, to, body)));
export const headers = (
  change: (headers: Passing['response']['headers'], passing: Passing) => void,
): Mutation => ({
  after: (passing) => change(passing.response.headers, passing),
});
export const without = (text: string | undefined, name: string): string =>
  String(text)
    .split(', ')
    .filter((each) => each.toLowerCase() !== name)
    .join(', ');
export const tokenOf = (passing: Passing): string =>
  String(passing.headers.authorization).replace('Bearer ', '');

/** The token that the service accepts. Set it before the tests. */
export const known = { token: '' };

/** Replaces the token of the request with one that the service accepts. */
export const anyToken = (operation: string): Mutation => ({
  before: (passing) => {
    if (is(passing, operation)) passing.headers.authorization = `Bearer ${known.token}`;
    return true;
  },
});

/** Responds with 2xx to a commit that the service refused with this status. */
export const commitsAnyway = (status: number): Mutation =>
  statuses(COMMIT, status, 200, { file_id: 'file_1' });

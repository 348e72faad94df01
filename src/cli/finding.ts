// The results of checks, and functions that create them.

import { type Exchange, isReadable } from './exchange.ts';

/** `setting` is the attribute or profile field that adapts the uploader to what was received. */
export interface Finding {
  readonly outcome: 'pass' | 'fail' | 'skip';
  readonly received: string;
  readonly setting?: string | undefined;
}

/** Thrown if a step that a check needs is not possible. */
export class Skip extends Error {}

export const pass = (received: string, setting?: string): Finding => ({ outcome: 'pass', received, setting });
export const fail = (received: string, setting?: string): Finding => ({ outcome: 'fail', received, setting });
export const skip = (received: string): Finding => ({ outcome: 'skip', received });
export const judge = (isRight: boolean, received: string, setting?: string): Finding =>
  isRight ? pass(received) : fail(received, setting);

export const isOk = ({ status }: Exchange): boolean => status >= 200 && status < 300;

/** A status that the uploader doesn't retry: a wrong request would otherwise be repeated as long as an outage lasts. */
export const isRefused = ({ status }: Exchange): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Describes a response in one line. */
export function describe({ status, text, json, error, location }: Exchange): string {
  if (status === 0) return error;
  // JSON has several ways to write a text. Secrets are found in this one.
  const body = json === undefined ? text : JSON.stringify(json);
  return [status, location && `to ${location}`, body].filter(Boolean).join(' ');
}

export const refuses = (exchange: Exchange): Finding => judge(isRefused(exchange), describe(exchange));
export const accepts = (exchange: Exchange): Finding => judge(isOk(exchange), describe(exchange));

/** Expects that a page of this origin may read the response. */
export function expectReadable(exchange: Exchange, origin: string): Finding {
  const { error, status, headers } = exchange;
  const allowedOrigin = headers['access-control-allow-origin'] ?? 'missing';
  return judge(
    isReadable(exchange, origin),
    `${error || status}, Access-Control-Allow-Origin: ${allowedOrigin}`,
  );
}

/** Expects that the response to a preflight is a success that a page of this origin may read. */
export const expectPreflight = (exchange: Exchange, origin: string): Finding =>
  isOk(exchange) ? expectReadable(exchange, origin) : fail(describe(exchange));

/** Expects that no name was denied. */
export const expectNoneDenied = (deniedNames: readonly string[]): Finding =>
  deniedNames.length > 0 ? fail(`does not allow ${deniedNames.join(', ')}`) : pass('all allowed');

/** Expects a response within 10 s, a third of the time that the uploader waits. */
export const judgeTime = ({ durationMs }: Exchange): Finding =>
  judge(durationMs <= 10_000, `${Math.round(durationMs)} ms`);

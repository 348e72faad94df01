// Runs all checks, one after the other.

import { isFromElsewhere } from '../service/wire.ts';
import type { Check } from './check.ts';
import { AUTH_CHECKS } from './checks/auth.ts';
import { BATCH_CHECKS } from './checks/batch.ts';
import { CANCEL_CHECKS, COMMIT_CHECKS } from './checks/commit.ts';
import { CORS_CHECKS } from './checks/cors.ts';
import { PRESIGN_CHECKS } from './checks/presign.ts';
import { PUT_CHECKS } from './checks/put.ts';
import { SESSION_CHECKS } from './checks/session.ts';
import { Context } from './context.ts';
import { answerFor, type Exchange } from './exchange.ts';
import { type Finding, fail, Skip, skip } from './finding.ts';
import type { Options } from './options.ts';

/** All checks. Those of CORS come last, because they read the responses to the requests of the others. */
export const CHECKS: readonly Check[] = [
  ...SESSION_CHECKS,
  ...PRESIGN_CHECKS,
  ...PUT_CHECKS,
  ...COMMIT_CHECKS,
  ...CANCEL_CHECKS,
  ...BATCH_CHECKS,
  ...AUTH_CHECKS,
  ...CORS_CHECKS,
];

export interface Result extends Finding {
  readonly id: string;
  readonly title: string;
  readonly expected: string;
  /** Path of the section in the documentation, relative to the package. */
  readonly docs: string;
}

export interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly results: readonly Result[];
  /** The element with the attributes that work with the service. */
  readonly html: string;
  /** Source of the object for `profile`. */
  readonly profile: string;
  /** Options because of which some checks were not made; otherwise empty. */
  readonly unchecked: string;
}

/**
 * Rejects if no check is selected, or if the service doesn't respond or doesn't accept the token: each check would then have the
 * same wrong result.
 */
export async function conform(options: Options): Promise<Report> {
  const { hash, only, origin, token } = options;
  const checks = CHECKS.filter(({ id }) => id.includes(only));
  if (checks.length === 0) throw new Error(`--only: there is no check "${only}"`);
  const context = new Context(options);
  const openResponse = await context.openOnce();
  if (openResponse.error) throw new Error(openResponse.error);
  if (openResponse.status === 401)
    throw new Error(`401: ${token ? 'another' : 'a'} token is needed (--token-file)`);
  if (isOfAnother(openResponse)) {
    const failure = `${openResponse.status}: no upload session can be opened at ${context.urlOf('open')}`;
    throw new Error(`${failure}. Check --base-url and --session-path.`);
  }
  const results: Result[] = [];
  for (const check of checks) {
    const { id, title, expected, section } = check;
    const finding = await run(check, context);
    results.push({
      id,
      title,
      expected,
      docs: `docs/service.md#${section}`,
      ...redactFinding(context, finding),
    });
  }
  // The results are complete. A service drops the sessions that stay after a while.
  await context.cleanUp().catch(() => undefined);
  const countOf = (outcome: Finding['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  const counts = { passed: countOf('pass'), failed: countOf('fail'), skipped: countOf('skip') };
  const { settings, redactor } = context;
  const reasons = [origin ? '' : 'no --origin', hash === 'blake3' ? '--hash' : '', only ? '--only' : ''];
  const unchecked = reasons.filter(Boolean).join(', ');
  return {
    ...counts,
    results,
    unchecked,
    html: redactor.text(settings.html),
    profile: redactor.text(settings.profile),
  };
}

/**
 * True for the response of another server or path: of a web site (HTML), or an error that lacks the field of the interface. From
 * 500 on, HTML comes from a proxy in front of the service.
 */
const isOfAnother = (response: Exchange): boolean =>
  (response.status < 500 && String(response.headers['content-type']).startsWith('text/html')) ||
  isFromElsewhere(answerFor(undefined, response));

/** Returns a finding without secrets and control characters. */
const redactFinding = ({ redactor }: Context, { outcome, received, setting }: Finding): Finding => ({
  outcome,
  received: redactor.line(received),
  ...(setting !== undefined && { setting: redactor.line(setting) }),
});

async function run({ run }: Check, context: Context): Promise<Finding> {
  const { signal, options } = context;
  const explain = (error: Error): Finding => (error instanceof Skip ? skip : fail)(error.message);
  const finding = await Promise.resolve(context).then(run).catch(explain);
  return signal.aborted ? fail(`the run took longer than ${options.limitMs / 1000} s`) : finding;
}

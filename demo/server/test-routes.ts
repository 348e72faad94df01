// Test mode: routes for faults, throttling, log, tokens, the users' devices, lifetimes and the clock.
import { Hono } from 'hono';
import type { Fault, Faults, NetworkShape } from './faults.ts';
import type { Env, Parts } from './parts.ts';
import { createPeople } from './people.ts';
import { Refusal, readJson, readString, requireJson } from './refusal.ts';
import { findNamed } from './seed.ts';

const BODY_BYTES = 1024 * 1024;

// Ten years. Larger values could exceed the range of `Date`.
const GREATEST_MS = 10 * 365 * 24 * 3600_000;

function readMs(body: Record<string, unknown>, field: string): number | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Math.abs(value) <= GREATEST_MS) return value;
  throw new Refusal(400, 'invalid_request', `${field} must be a number of milliseconds, ten years at most`);
}

/** Creates the routes under `/_test`. */
export function testRoutes(parts: Parts, faults: Faults): Hono<Env> {
  const app = new Hono<Env>();
  const { clock, settings } = parts;
  const people = createPeople(parts);
  const requireKnown = (name: string): string => {
    if (!findNamed(name)) throw new Refusal(404, 'not_found', 'no such user');
    return name;
  };

  // Pages of other sites can send any other type without a preflight.
  app.post('/_test/*', async (c, next) => {
    requireJson(c.req.raw);
    await next();
  });
  app.post('/_test/faults', async (c) => {
    const fault = (await readJson(c.req.raw, BODY_BYTES)) as unknown as Fault;
    try {
      faults.add(fault);
    } catch (error) {
      throw new Refusal(400, 'invalid_request', (error as Error).message);
    }
    return c.body(null, 204);
  });
  app.delete('/_test/faults', (c) => {
    faults.clear();
    faults.shape({});
    return c.body(null, 204);
  });
  app.post('/_test/network', async (c) => {
    faults.shape((await readJson(c.req.raw, BODY_BYTES)) as NetworkShape);
    return c.body(null, 204);
  });
  app.get('/_test/log', (c) => c.json(faults.log));
  app.delete('/_test/log', (c) => {
    faults.clearLog();
    return c.body(null, 204);
  });
  app.post('/_test/token', async (c) => {
    const body = await readJson(c.req.raw, BODY_BYTES);
    const wanted = readString(body, 'user', 100);
    return c.json(await people.createToken(requireKnown(wanted), readMs(body, 'lifetimeMs')));
  });
  app.get('/_test/people/:user', async (c) => {
    const name = requireKnown(c.req.param('user'));
    return c.json({
      totp: await people.totp(name),
      recovery_codes: await people.recoveryCodes(name),
      email: (await people.message(name, 'email')) ?? null,
      sms: (await people.message(name, 'sms')) ?? null,
    });
  });
  app.post('/_test/people/:user/push', async (c) => {
    const { decision } = await readJson(c.req.raw, BODY_BYTES);
    if (decision !== 'approved' && decision !== 'denied') {
      throw new Refusal(400, 'invalid_request', 'decision is approved or denied');
    }
    return c.json({ answered: await people.answerPush(requireKnown(c.req.param('user')), decision) });
  });
  app.post('/_test/people/:user/passkey', async (c) =>
    c.json(await people.addPasskey(requireKnown(c.req.param('user')))),
  );
  app.post('/_test/lifetimes', async (c) => {
    const body = await readJson(c.req.raw, BODY_BYTES);
    for (const name of ['tokenLifetimeMs', 'urlLifetimeMs', 'codeLifetimeMs'] as const) {
      const value = readMs(body, name);
      if (value !== undefined) settings[name] = value;
    }
    return c.body(null, 204);
  });
  app.post('/_test/clock', async (c) => {
    const shiftMs = readMs(await readJson(c.req.raw, BODY_BYTES), 'shiftMs');
    if (shiftMs === undefined) throw new Refusal(400, 'invalid_request', 'shiftMs must be a number');
    clock.shift(shiftMs);
    return c.json({ now: clock.now() });
  });
  return app;
}

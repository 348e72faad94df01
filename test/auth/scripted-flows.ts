// Runs effects of the sign-in table without a session, and records the events that they cause.

import { Flows } from '../../src/auth/flows.ts';
import { TokenDoor } from '../../src/auth/token.ts';
import type { Effect, FlowContext, FlowEvent } from '../../src/auth/types.ts';
import type { PostAnswer } from '../../src/core/auth-options.ts';
import { AUTH_TIMES } from '../../src/core/auth-times.ts';
import { createSettings } from '../../src/core/config.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { CurrentUser } from '../../src/core/user.ts';

/** Returns a unique code. */
export const grantOf = (): { readonly code: string; readonly verifier: string; readonly via: 'popup' } => ({
  code: crypto.randomUUID(),
  verifier: 'v',
  via: 'popup',
});

export const answering = (answer: PostAnswer): Partial<FlowContext> => ({ post: async () => answer });

/** Takes tokens out of events. */
export const door = new TokenDoor();

const { random } = Math;
const stops: AbortController[] = [];

/** Ends all effects and restores the browser; for `afterEach`. */
export function stopFlows(): void {
  Math.random = random;
  Reflect.deleteProperty(navigator, 'onLine');
  for (const stop of stops.splice(0)) stop.abort();
}

export interface Run {
  readonly events: FlowEvent[];
  readonly flows: Flows;
  run(effect: Effect): void;
  stop(): void;
}

export function create(input: SettingsInput = {}, more: Partial<FlowContext> = {}): Run {
  Math.random = () => 0.5;
  const events: FlowEvent[] = [];
  const stop = new AbortController();
  stops.push(stop);
  const flows = new Flows({
    settings: createSettings({ baseUrl: 'https://service.test', ...input }),
    post: () => new Promise(() => undefined),
    times: AUTH_TIMES,
    sessionKey: crypto.randomUUID(),
    user: new CurrentUser(),
    offer: { ask: () => false, take: () => undefined },
    token: { isSameUser: () => true },
    door,
    ...more,
  });
  return {
    events,
    flows,
    run: (effect) => flows.run(effect, stop.signal, (event) => events.push(event)),
    stop: () => stop.abort(),
  };
}

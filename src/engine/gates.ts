// Doors in front of hosts, for whoever goes there: a host that asks for patience is left alone by all uploads of an engine, and
// keeps nobody from another one. It knows no request.

import { Gate } from '../core/wait.ts';

/** Tells which gate an address lies behind: one for each origin. */
export function createGates(): (url: string) => Gate {
  const gates = new Map<string, Gate>();
  return (url) => {
    const { origin } = new URL(url);
    const gate = gates.get(origin) ?? new Gate();
    gates.set(origin, gate);
    return gate;
  };
}

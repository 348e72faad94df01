// Test mode: faults, throttling, the request log and `/_test`. server.ts loads this module only with `test: true`, and only this
// module loads those of the faults.
import type { Hono, MiddlewareHandler } from 'hono';
import { createBatchGate } from './batch-gate.ts';
import { createFaults, type Faults } from './faults.ts';
import { createNetwork } from './network.ts';
import type { Env, Parts } from './parts.ts';
import type { Handler } from './ports.ts';
import { createGate } from './request-gate.ts';
import { createStorageGate } from './storage-gate.ts';
import { testRoutes } from './test-routes.ts';
import type { Uploads } from './uploads.ts';

export interface TestMode {
  faults: Faults;
  /** Middleware around the one that adds the CORS headers, and middleware within it. */
  outside: MiddlewareHandler<Env>;
  inside: MiddlewareHandler<Env>;
  /** Adds the faults of the files of a batch. */
  inBatch(uploads: Uploads): Uploads;
  routes: Hono<Env>;
  /** Replaces the handler of the storage. */
  storage: Handler;
}

export function createTestMode(parts: Parts): TestMode {
  const faults = createFaults();
  const network = createNetwork(faults);
  const { current, ...gate } = createGate(parts, faults, network);
  return {
    faults,
    ...gate,
    inBatch: createBatchGate(parts, faults, current),
    routes: testRoutes(parts, faults),
    storage: createStorageGate(parts, faults, network),
  };
}

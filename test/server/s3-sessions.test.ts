// Sessions of the example in memory. `npm run test:stack` has the same tests for PostgreSQL.
import { after, describe, mock } from 'node:test';
import { memorySessions } from '../../demo/examples/service-s3/sessions.ts';
import { testSessions } from '../support/sessions-contract.ts';

describe('Sessions of the example in memory', () => {
  mock.timers.enable({ apis: ['Date'] });
  after(() => mock.timers.reset());
  const one = memorySessions();
  testSessions(() => ({ one, other: one, pass: (ms) => mock.timers.setTime(Date.now() + ms) }));
});

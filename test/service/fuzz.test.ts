// Thousands of random responses for each operation: each response is read correctly or rejected with an `UploaderError`.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { createSettings } from '../../src/core/config.ts';
import { ERROR_CODES } from '../../src/core/error-codes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import type { Calls, Session, Ticket } from '../../src/core/types.ts';
import { createCalls } from '../../src/service/client.ts';
import type { Answer } from '../../src/service/http.ts';
import { fillProfile } from '../../src/service/profile.ts';
import { readCommitted, readMissing, readRefusal, readSession, readTickets } from '../../src/service/wire.ts';
import { body, HASHES, headers, status, text } from '../support/junk-answers.ts';
import { runs } from '../support/scope.ts';
import { addFault, forever, referenceSettings, tokenOf, uniqueName, withToken } from './reference.ts';

const COUNT = 10_000;
const SETTINGS: SettingsInput = {
  baseUrl: 'https://api.test',
  commitPath: '/commit',
  cancelPath: '/session',
};
const PROFILE = fillProfile({});
const rules = createSettings(SETTINGS);

const answerOf = (read: { status: number; body: unknown; headers: Record<string, string> }): Answer => {
  const all = new Headers(read.headers);
  return {
    status: read.status,
    address: '',
    body: read.body,
    isEmpty: false,
    header: (name) => all.get(name),
  };
};
const answers = fc.record({ status, body, headers }).map(answerOf);

/** Returns the result of `read`, or `undefined` if `read` throws a valid `UploaderError`. Any other error fails the test. */
function readOrRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    expectOurs(error);
    return undefined;
  }
}

function expectOurs(error: unknown): void {
  if (!(error instanceof UploaderError)) throw error;
  if (!ERROR_CODES.includes(error.code)) throw new Error(`no code of ours: ${error.code}`);
  if (error.retryAfterMs !== undefined && !(error.retryAfterMs >= 0 && error.retryAfterMs <= 300_000))
    throw new Error(`it would wait for ${error.retryAfterMs} ms`);
}

function expectSession(session: Session): void {
  if (typeof session.sessionId !== 'string' || session.sessionId === '')
    throw new Error('a session without id');
  new Headers({ 'x-service-uploadsession': session.header });
  if (session.header === '') throw new Error('a session with an empty header');
}

/** Asserts that exactly the requested chunks have tickets. Each ticket has a receipt, and either an allowed URL or none. */
function expectTickets(tickets: ReadonlyMap<string, Ticket>): void {
  if ([...tickets.keys()].join() !== HASHES.join()) throw new Error('tickets for something else');
  for (const { receipt, upload } of tickets.values()) {
    if (typeof receipt !== 'string' || receipt === '') throw new Error('a ticket without a receipt');
    if (!upload) continue;
    const { protocol, username, password } = new URL(upload.url);
    if (protocol !== 'https:' || username !== '' || password !== '')
      throw new Error(`bytes would go to ${upload.url}`);
    if (upload.method !== 'PUT' && upload.method !== 'POST')
      throw new Error(`bytes would go by ${upload.method}`);
    for (const [name, value] of Object.entries(upload.headers)) {
      new Headers({ [name]: value });
      if (/^(?:authorization|cookie|x-service-uploadsession)$/i.test(name))
        throw new Error(`it would send ${name}`);
    }
    if (upload.expiresAtMs !== undefined && !(upload.expiresAtMs > 0))
      throw new Error('it runs out at no time');
  }
}

describe('random invalid responses', () => {
  it('open no session that cannot be used', () => {
    let takenCount = 0;
    const check = (answer: Answer): void => {
      const session = readOrRefused(() => readSession(answer, PROFILE));
      if (!session) return;
      takenCount += 1;
      expectSession(session);
    };
    fc.assert(fc.property(answers, check), runs(COUNT));
    expect(takenCount).to.be.greaterThan(runs(COUNT).numRuns / 1000);
  });

  it('give no ticket for a chunk that was not requested, and none that is not allowed', () => {
    let takenCount = 0;
    const check = (answer: Answer): void => {
      const tickets = readOrRefused(() => readTickets(answer, HASHES, PROFILE, rules));
      if (!tickets) return;
      takenCount += 1;
      expectTickets(tickets);
    };
    fc.assert(fc.property(answers, check), runs(COUNT));
    // Makes sure that the test also covers accepted responses.
    expect(takenCount).to.be.greaterThan(runs(COUNT).numRuns / 1000);
  });

  it('to a commit request no chunk that was not sent', () => {
    const check = (answer: Answer): void => {
      const missing = readOrRefused(() => readMissing(answer, HASHES, PROFILE));
      if (missing && !(missing.length > 0 && missing.every((hash) => HASHES.includes(hash))))
        throw new Error(`it would send ${missing}`);
      readOrRefused(() => readCommitted(answer));
    };
    fc.assert(fc.property(answers, check), runs(COUNT));
  });

  it('are errors with a code and a limited delay, at every operation', () => {
    const operations = fc.constantFrom('open', 'presign', 'commit', 'cancel' as const);
    const check = (answer: Answer, operation: 'open' | 'presign' | 'commit' | 'cancel'): void =>
      expectOurs(readRefusal(answer, operation, PROFILE));
    fc.assert(fc.property(answers, operations, check), runs(COUNT));
  });
});

const SESSION = { sessionId: 's', header: 'h' };
const CHUNKS = HASHES.map((hash) => ({ hash, sizeBytes: 1 }));
/** Calls of the client by name. A call checks its result, and rejects if the client rejects the response. */
const OPERATIONS = {
  open: async (calls: Calls): Promise<void> =>
    expectSession(await calls.openSession({ parentId: 'p', fileName: 'f', fileSize: 3 }, forever)),
  presign: async (calls: Calls): Promise<void> =>
    expectTickets(await calls.presign(SESSION, CHUNKS as never, forever)),
  /** Resolves with a value only if the accepted commit is not yet complete. */
  commit: async (calls: Calls): Promise<unknown> =>
    (await calls.commit?.(SESSION, { hashes: HASHES, receipts: HASHES }, forever))?.pending,
  cancel: async (calls: Calls): Promise<void> => calls.cancel?.(SESSION, forever),
};

const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});

describe('invalid responses to real calls', () => {
  for (const [name, ask] of Object.entries(OPERATIONS)) {
    it(`end ${name} immediately, with a result or an UploaderError; done only with a valid 2xx`, async () => {
      const calls = createCalls(rules, withToken('token'));
      let sent: { status: number; text: string } = { status: 0, text: '' };
      const check = async (status: number, text: string, headers: Record<string, string>): Promise<void> => {
        const isBare = status === 204 || status === 205 || status === 304;
        sent = { status, text: isBare ? '' : text };
        globalThis.fetch = async () => new Response(isBare ? null : text, { status, headers });
        let pending: unknown;
        try {
          pending = await ask(calls);
        } catch (error) {
          expectOurs(error);
          return;
        }
        if ((name === 'commit' && status === 202) !== (pending !== undefined))
          throw new Error(`${status} is${pending ? '' : ' not'} accepted`);
        if (pending) return;
        if (name === 'cancel' && (status === 404 || status === 410)) return;
        const isMissing = name === 'commit' && status === 409;
        if (!isMissing && (sent.status < 200 || sent.status > 299))
          throw new Error(`${sent.status} is no success`);
        if (name === 'commit' && sent.text.trim() !== '') JSON.parse(sent.text.replace(/^\ufeff/, ''));
      };
      await fc.assert(fc.asyncProperty(status, text, headers, check), runs(2000));
    });
  }

  it('over the network as well end with an UploaderError or a session', async () => {
    const settings = await referenceSettings();
    const calls = createCalls(settings, withToken(await tokenOf('alice')), { timeoutMs: 5000 });
    const check = async (status: number, body: string): Promise<void> => {
      const fileName = uniqueName();
      const fault = { operation: 'session', match: { fileName }, contentType: 'application/json', times: -1 };
      await addFault({ ...fault, status, body });
      try {
        expectSession(await calls.openSession({ parentId: 'folder-a', fileName, fileSize: 3 }, forever));
      } catch (error) {
        expectOurs(error);
        return;
      }
      expect(status).to.be.within(200, 299);
    };
    await fc.assert(fc.asyncProperty(status, text, check), runs(150));
  });
});

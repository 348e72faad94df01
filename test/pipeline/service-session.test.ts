// The table of a session on the service: what is saved of each state, and when a session is given up.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { SavedSession } from '../../src/core/types.ts';
import {
  type Evidence,
  isUnanswered,
  judge,
  modelOf,
  reduce,
  type SessionEvent,
  type SessionModel,
  type SessionPhase,
  savedOf,
  stateOf,
} from '../../src/pipeline/service-session.ts';

const session = { sessionId: 's', header: 'h' };
const start = modelOf(undefined, 1000);
const after = (...events: SessionEvent[]): SessionModel => events.reduce(reduce, start);

const REQUESTED: SessionEvent = { type: 'requested' };
const OPENED: SessionEvent = { type: 'opened', session, chunkSizeBytes: 1000 };
const LOST: SessionEvent = { type: 'lost', needsName: false };
const TOO_LARGE: SessionEvent = { type: 'chunk-too-large', smallerBytes: 500 };
const SENT: SessionEvent = { type: 'commit-sent', atMs: 5 };
const UNANSWERED: SessionEvent = { type: 'commit-unanswered', atMs: 6 };
const ACCEPTED: SessionEvent = { type: 'commit-accepted', atMs: 7 };
const REFUSED: SessionEvent = { type: 'commit-refused' };
const MISSING: SessionEvent = { type: 'chunks-missing' };
const OVERDUE: SessionEvent = { type: 'commit-overdue', atMs: 9 };
const COMPLETED: SessionEvent = { type: 'completed' };
const stored = (isNew: boolean, atMs = 0): SessionEvent => ({ type: 'chunk-stored', isNew, atMs });

const MODELS: Readonly<Record<SessionPhase, SessionModel>> = {
  none: start,
  opening: after(REQUESTED),
  open: after(REQUESTED, OPENED),
  lost: after(REQUESTED, OPENED, LOST),
  'too-large': after(REQUESTED, OPENED, TOO_LARGE),
  accepted: after(REQUESTED, OPENED, SENT, ACCEPTED),
  unsure: after(REQUESTED, OPENED, SENT, UNANSWERED),
  done: after(REQUESTED, OPENED, SENT, COMPLETED),
};
const EVENTS = [
  ...[REQUESTED, { type: 'dropped' } as const, OPENED, stored(true), TOO_LARGE, LOST],
  ...[SENT, UNANSWERED, ACCEPTED, REFUSED, MISSING, OVERDUE, COMPLETED],
];

/** The next state of each event that changes the state. */
const NEXT: Readonly<Record<SessionPhase, Readonly<Partial<Record<SessionEvent['type'], SessionPhase>>>>> = {
  none: { requested: 'opening' },
  opening: { dropped: 'none', opened: 'open' },
  open: {
    'chunk-too-large': 'too-large',
    lost: 'lost',
    'commit-sent': 'unsure',
    'commit-unanswered': 'unsure',
    'commit-accepted': 'accepted',
    completed: 'done',
  },
  lost: { requested: 'opening', 'chunk-too-large': 'too-large' },
  'too-large': { requested: 'opening' },
  accepted: {
    'chunk-too-large': 'too-large',
    lost: 'lost',
    'commit-unanswered': 'unsure',
    'chunks-missing': 'open',
    completed: 'done',
  },
  unsure: { 'commit-accepted': 'accepted', 'chunks-missing': 'open', completed: 'done' },
  done: {},
};

describe('the table of a session', () => {
  for (const [phase, model] of Object.entries(MODELS) as [SessionPhase, SessionModel][])
    it(`leads from ${phase} to the states of the table, and to no other`, () => {
      expect(model.state.phase).to.equal(phase);
      for (const event of EVENTS)
        expect(reduce(model, event).state.phase, event.type).to.equal(NEXT[phase][event.type] ?? phase);
    });

  it('is read from a record as it was saved', () => {
    for (const phase of ['open', 'too-large', 'accepted', 'unsure'] as const) {
      const saved = savedOf(MODELS[phase]);
      expect(saved && stateOf(saved).phase).to.equal(phase);
    }
    for (const phase of ['none', 'opening', 'lost', 'done'] as const)
      expect(savedOf(MODELS[phase]), phase).to.equal(undefined);
  });

  it('reads records of earlier versions', () => {
    const old: SavedSession = { session, chunkSizeBytes: 1000 };
    expect(stateOf(old).phase).to.equal('open');
    expect(stateOf({ ...old, acceptedAtMs: 7 }).phase).to.equal('accepted');
    expect(stateOf({ chunkSizeBytes: 1000 }).phase).to.equal('none');
  });

  it('knows after one refusal that the file is not complete, unless another commit is without a response', () => {
    expect(after(REQUESTED, OPENED, SENT, REFUSED).state.phase).to.equal('open');
    expect(after(REQUESTED, OPENED, SENT, UNANSWERED, SENT, REFUSED).state.phase).to.equal('unsure');
    const resumed = modelOf(savedOf(after(REQUESTED, OPENED, SENT)), 1000);
    expect(reduce(resumed, REFUSED).state.phase).to.equal('unsure');
    for (const code of ['network', 'offline', 'timeout', 'service-failed', 'bad-response'] as const)
      expect(isUnanswered(new UploaderError(code, 'no'))).to.equal(true);
    for (const code of ['forbidden', 'name-taken', 'session-expired', 'bad-config'] as const)
      expect(isUnanswered(new UploaderError(code, 'no'))).to.equal(false);
  });

  it('takes a 429, and a 503 of the service itself, as a refusal of a commit, but not the 503 of a proxy', () => {
    const isSure = (details: { readonly status: number; readonly debugInfo?: string }): boolean =>
      !isUnanswered(new UploaderError('rate-limited', 'busy', details));
    expect(isSure({ status: 429 })).to.equal(true);
    expect(isSure({ status: 503, debugInfo: 'overloaded' })).to.equal(true);
    expect(isSure({ status: 503 })).to.equal(false);
  });

  it('keeps the time of the first 202, also over polls without a response, until the time is over', () => {
    const polled = [UNANSWERED, ACCEPTED, UNANSWERED].reduce(reduce, MODELS.accepted);
    expect(polled.state).to.include({ phase: 'unsure', sinceMs: 7, acceptedAtMs: 7 });
    const over = reduce(reduce(polled, OVERDUE), ACCEPTED);
    expect(over.state).to.include({ phase: 'accepted', sinceMs: 9 });
  });

  it('limits the size of chunks after a 413, in each later session', () => {
    const next = [REQUESTED, { ...OPENED, chunkSizeBytes: 500 }].reduce(reduce, MODELS['too-large']);
    expect(reduce(MODELS['too-large'], REQUESTED).chunkSizeBytes).to.equal(500);
    expect(savedOf(next)).to.include({ chunkSizeBytes: 500, largestChunkBytes: 500 });
    expect(modelOf({ chunkSizeBytes: 1000, largestChunkBytes: 500 }, 1000).chunkSizeBytes).to.equal(500);
  });
});

describe('a session is given up', () => {
  const of = (code: ConstructorParameters<typeof UploaderError>[0], debugInfo?: string): Evidence => ({
    error: new UploaderError(code, 'no', { debugInfo }),
    repeatCount: 0,
    canRename: false,
    nowMs: 1e6,
  });
  const gone = of('session-expired', 'gone');

  it('after one more answer if it is certain, and after three more otherwise', () => {
    const repeatsOf = (model: SessionModel, evidence: Evidence): number => {
      let repeatCount = 0;
      while (judge(model, { ...evidence, repeatCount }) === 'ask-again') repeatCount += 1;
      return repeatCount;
    };
    expect(repeatsOf(MODELS.open, gone)).to.equal(1);
    expect(repeatsOf(MODELS.open, of('session-expired'))).to.equal(3);
    expect(repeatsOf(reduce(MODELS.open, stored(true, 1e6 - 59_000)), gone)).to.equal(3);
    expect(repeatsOf(reduce(MODELS.open, stored(true, 1e6 - 61_000)), gone)).to.equal(1);
    expect(repeatsOf(MODELS.open, of('token-rejected'))).to.equal(0);
  });

  it('once without a new chunk in between, and again after each new one', () => {
    const again = [LOST, REQUESTED, OPENED].reduce(reduce, MODELS.open);
    const evidence = { ...gone, repeatCount: 3 };
    expect(judge(MODELS.open, evidence)).to.equal('next-session');
    expect(judge(again, evidence)).to.equal('fail');
    expect(judge(reduce(again, stored(false)), evidence)).to.equal('fail');
    expect(judge(reduce(again, stored(true)), evidence)).to.equal('next-session');
  });

  it('never after a commit without a response', () => {
    for (const canRename of [true, false])
      for (const code of ['session-expired', 'name-taken'] as const)
        expect(judge(MODELS.unsure, { ...of(code), canRename, repeatCount: 3 })).to.equal('may-be-complete');
    for (const code of ['token-rejected', 'forbidden', 'network'] as const)
      expect(judge(MODELS.unsure, { ...of(code), repeatCount: 3 })).to.equal('fail');
  });

  it('never after a commit that an earlier run had accepted: its last poll may be without a response', () => {
    const resumed = modelOf(savedOf(MODELS.accepted), 1000);
    for (const canRename of [true, false])
      for (const code of ['session-expired', 'name-taken'] as const)
        expect(judge(resumed, { ...of(code), canRename, repeatCount: 3 })).to.equal('may-be-complete');
    expect(judge(MODELS.accepted, { ...gone, repeatCount: 3 })).to.equal('next-session');
  });

  it('for another name if the upload may get one, which is no loss', () => {
    expect(judge(MODELS.open, { ...of('name-taken'), canRename: true })).to.equal('next-name');
    expect(judge(MODELS.open, of('name-taken'))).to.equal('fail');
    expect(reduce(MODELS.open, { type: 'lost', needsName: true }).hasProgress).to.equal(true);
  });

  it('never for another name once the service has accepted the commit: the name may be taken by the same file', () => {
    expect(judge(MODELS.accepted, { ...of('name-taken'), canRename: true })).to.equal('fail');
  });

  it('after a 403 only if an earlier run opened it', () => {
    const resumed = modelOf({ session, chunkSizeBytes: 1000 }, 1000);
    const evidence = { ...of('forbidden'), repeatCount: 3 };
    expect(judge(resumed, evidence)).to.equal('next-session');
    expect(judge(MODELS.open, evidence)).to.equal('fail');
  });
});

// The upload table: the result of each event in each state, and invariants.

import { expect } from '@open-wc/testing';
import * as fc from 'fast-check';
import { publicPhase } from '../../src/engine/file-snapshot.ts';
import { reduce } from '../../src/engine/upload-machine.ts';
import {
  isRunning,
  stateNameOf,
  type UploadEvent,
  type UploadEventType,
  type UploadModel,
  type UploadState,
} from '../../src/engine/upload-state.ts';
import { itIsDocumented } from '../core/documented.ts';
import { runs } from '../support/scope.ts';
import { at, EVENTS, generation, nameOf, uploadStates } from './upload-table.ts';

function shown(state: UploadState): string {
  if (state.phase === 'canceling') return `canceling>${shown(state.next)}`;
  if (state.phase === 'paused' && 'blockers' in state) return `blocked:${state.reason}>${state.resumesTo}`;
  return stateNameOf(state);
}

function cellOf(model: UploadModel, event: UploadEvent): string | undefined {
  const { model: after, effects } = reduce(model, event);
  if (after === model) return undefined;
  const abort = after.generation === model.generation ? [] : ['!'];
  return [shown(after.state), ...abort, ...effects.map(nameOf)].join(' ');
}

const TYPES = Object.keys(EVENTS) as UploadEventType[];

describe('the upload table', () => {
  itIsDocumented('/docs/upload-states.md', uploadStates());

  it('requests the file again if an upload without a file is retried', () => {
    const model = at('canceled', { hasFile: false });
    expect(cellOf(model, EVENTS.retry)).to.equal('needs-file ! upload-paused');
  });

  it('retries a canceled upload only by its id, and no upload that cannot succeed', () => {
    expect(cellOf(at('canceled'), { type: 'retry', isNamed: false })).to.equal(undefined);
    const state = { phase: 'failed', error: { code: 'file-too-large', retryable: false } } as const;
    expect(cellOf(at('failed', { state }), EVENTS.retry)).to.equal(undefined);
  });

  it('withdraws a finished upload only in order to remove it', () => {
    for (const row of ['done', 'canceled'] as const) {
      expect(cellOf(at(row), { type: 'withdraw', next: 'canceled' }), row).to.equal(undefined);
      const model = reduce(at(row), EVENTS.withdraw).model;
      expect(publicPhase(model.state)).to.equal(row);
      expect(cellOf(model, EVENTS.undo)).to.equal(`${row} ! note-withdrawn release`);
      for (const type of ['complete', 'cancel', 'suspend', 'remove', 'clear', 'leave', 'abandon'] as const)
        expect(cellOf(model, EVENTS[type]), type).to.equal('removed ! file-removed leave');
      expect(cellOf(model, EVENTS.close)).to.equal('removed ! leave');
    }
  });

  it('completes what was withdrawn, or returns to the state before', () => {
    const steps = [
      ['uploading', 'paused', 'queued ! note-withdrawn note-paused upload-resumed'],
      ['blocked', 'paused', 'queued ! note-withdrawn note-paused upload-resumed'],
      ['held', 'queued', 'held ! note-withdrawn release'],
      ['user', 'paused', 'user ! note-withdrawn release'],
      ['failed', 'failed', 'failed ! note-withdrawn yield'],
      // In these states, the file can arrive while the upload is withdrawn.
      ['resuming', 'paused', 'queued ! note-withdrawn note-paused upload-resumed'],
      ['needs-file', 'paused', 'queued ! note-withdrawn note-paused upload-resumed'],
    ] as const;
    for (const [row, phase, undone] of steps) {
      const withdrawn = (next: 'canceled' | 'removed'): UploadModel =>
        reduce(at(row), { type: 'withdraw', next }).model;
      expect(publicPhase(withdrawn('canceled').state), row).to.equal(phase);
      expect(cellOf(withdrawn('canceled'), EVENTS.undo), row).to.equal(undone);
      expect(cellOf(withdrawn('canceled'), EVENTS.complete), row).to.equal(cellOf(at(row), EVENTS.cancel));
      expect(cellOf(withdrawn('removed'), EVENTS.complete), row).to.equal(cellOf(at(row), EVENTS.remove));
    }
    for (const row of ['resuming', 'needs-file'] as const) {
      const { model } = reduce(at(row, { hasFile: false }), EVENTS.withdraw);
      expect(cellOf(model, EVENTS.undo)).to.equal('needs-file ! note-withdrawn release upload-paused');
    }
  });

  it('continues a run only after everything that it waits for has arrived', () => {
    const wait = (model: UploadModel, ...events: UploadEvent[]): UploadModel =>
      events.reduce((before, event) => reduce(before, event).model, model);
    const offline = wait(at('uploading'), EVENTS.offline, EVENTS['sign-in']);
    expect(shown(offline.state)).to.equal('blocked:offline>uploading');
    const online = wait(offline, EVENTS.online);
    expect(shown(online.state)).to.equal('blocked:signed-out>uploading');
    expect(shown(wait(online, { type: 'sign-in', reason: undefined }).state)).to.equal('uploading');
    const signedOut = wait(at('uploading'), EVENTS['sign-in'], EVENTS.offline);
    expect(shown(wait(signedOut, { type: 'sign-in', reason: undefined }).state)).to.equal(
      'blocked:offline>uploading',
    );
  });

  it('shows the next attempt of all waiting requests until a request succeeds', () => {
    const shownAtMs = (...events: UploadEvent[]): unknown => {
      const { state } = events.reduce((before, event) => reduce(before, event).model, at('uploading'));
      return 'attempt' in state ? state.attempt?.retryAtMs : undefined;
    };
    const wait = (atMs: number, nowMs: number) =>
      ({ type: 'retry-scheduled', generation, attempt: { retryAtMs: atMs, lastError }, nowMs }) as const;
    const lastError = { code: 'network', retryable: true } as const;
    expect(shownAtMs(wait(50, 10), wait(30, 11))).to.equal(30);
    expect(shownAtMs(wait(30, 10), wait(50, 29))).to.equal(30);
    expect(shownAtMs(wait(30, 10), wait(50, 30))).to.equal(50);
    expect(shownAtMs(wait(30, 10), wait(50, 20), EVENTS['retry-ended'])).to.equal(undefined);
    const sending = reduce(at('uploading'), EVENTS['retry-ended']).model;
    expect(reduce(sending, EVENTS['retry-ended'])).to.deep.equal({ model: sending, effects: [] });
  });

  it('applies commands given during a cancellation to the next run', () => {
    const { model } = reduce(reduce(at('canceling'), EVENTS.retry).model, EVENTS.pause);
    expect(shown(model.state)).to.equal('canceling>user');
    expect(shown(reduce(model, EVENTS.forgotten).model.state)).to.equal('user');
  });
});

describe('in any sequence of events', () => {
  const event = fc.constantFrom(...TYPES.map((type) => EVENTS[type]));
  /** Returns `next` with the generation of the current run, if events of this type have a generation. */
  const current = (model: UploadModel, next: UploadEvent): UploadEvent =>
    'generation' in next ? { ...next, generation: model.generation } : next;

  it('a run is started only by `begin`, aborted when it ends, and never forgotten twice in one step', () => {
    void fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.boolean(), (events, hasFile) => {
        let model = at('queued', { hasFile });
        for (const next of events) {
          const { model: after, effects } = reduce(model, current(model, next));
          const begins = effects.some(({ type }) => type === 'run');
          expect(begins).to.equal(!isRunning(model.state) && isRunning(after.state));
          if (isRunning(model.state) && !isRunning(after.state))
            expect(after.generation).to.be.greaterThan(model.generation);
          if (model.state.phase === 'canceling')
            expect(effects.some(({ type }) => type === 'forget')).to.equal(false);
          const last = after.state.phase === 'canceling' ? after.state.next : after.state;
          if (effects.length > 0 && effects.every(({ type }) => !type.startsWith('report')))
            expect(publicPhase(after.state)).to.satisfy(
              (phase: string) => phase === publicPhase(model.state) || last.phase === 'removed',
            );
          model = after;
        }
      }),
      runs(1000),
    );
  });
});

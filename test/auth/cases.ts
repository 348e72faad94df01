// A step of the sign-in table as a test: all changes of the model, and all effects.

import { expect } from '@open-wc/testing';
import { challengeRows } from '../../src/auth/challenge.ts';
import { reduce } from '../../src/auth/machine.ts';
import type { AuthEvent, AuthModel, Effect } from '../../src/auth/types.ts';
import { changesOf } from '../core/state-tables.ts';
import { at, type Where } from './sign-in-table.ts';

export type Case = readonly [
  title: string,
  Where,
  Partial<AuthModel>,
  AuthEvent,
  changes: object,
  effects: readonly object[],
];

export const deadline = (of: string): object => ({ type: 'deadline', of });
export const required = (reason = 'first'): object => ({ type: 'require', reason });

export function itMoves([title, where, patch, event, changes, effects]: Case): void {
  it(title, () => {
    const before = at(where, patch);
    const { model, effects: found } = reduce(before, event, challengeRows);
    expect(changesOf(before, model)).to.deep.equal(changes);
    expect(found as readonly Effect[]).to.deep.equal(effects);
  });
}

// Turns the crank of the sign-in table: one event after another, the effects of a state aborted when it is left. It knows
// neither what effects do nor who watches.

import { reduce } from './machine.ts';
import type { AuthEvent, AuthModel, Effect, FlowEvent, Rows } from './machine-types.ts';

/** Says what came of an effect. */
export type Send = (event: FlowEvent) => void;

export interface DriverHooks {
  /** What the table cannot know; asked before each event. */
  readonly facts: () => Pick<AuthModel, 'isAlive' | 'isOffline'>;
  /** Told of each step, before its effects are carried out. */
  readonly onStep: (
    before: AuthModel,
    after: AuthModel,
    event: AuthEvent,
    effects: readonly Effect[],
  ) => void;
  readonly run: (effect: Effect, signal: AbortSignal, send: Send) => void;
  /** Told when nothing is left to do for now. */
  readonly onRest: () => void;
}

/** A model, and the only way to change it. */
export class Driver {
  readonly #hooks: DriverHooks;
  readonly #queue: AuthEvent[] = [];
  #model: AuthModel;
  #flow = new AbortController();
  #isRunning = false;
  /** Rows beside those of the table: what a form adds while it is shown. */
  rows: Rows = {};

  constructor(model: AuthModel, hooks: DriverHooks) {
    this.#model = model;
    this.#hooks = hooks;
  }

  get model(): AuthModel {
    return this.#model;
  }

  /** Aborted when the state at hand is left. */
  get signal(): AbortSignal {
    return this.#flow.signal;
  }

  /** Events that come up meanwhile are taken in turn. */
  dispatch(event: AuthEvent): void {
    this.#queue.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#step(next);
    } finally {
      this.#isRunning = false;
    }
    this.#hooks.onRest();
  }

  #step(event: AuthEvent): void {
    const before = { ...this.#model, ...this.#hooks.facts() };
    const { model, effects } = reduce(before, event, this.rows);
    const { generation } = model;
    this.#model = model;
    if (generation !== before.generation) {
      this.#flow.abort();
      this.#flow = new AbortController();
    }
    this.#hooks.onStep(before, model, event, effects);
    const send = (outcome: FlowEvent): void => this.dispatch({ ...outcome, generation });
    for (const effect of effects) this.#hooks.run(effect, this.#flow.signal, send);
  }
}

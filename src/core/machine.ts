// Drives a state machine: applies a pure `reduce` to each event, and runs the resulting effects. Sign-in and each upload have their
// own machine.

/** The result of an event: the next model, and effects to run in order. */
export interface Transition<M, F> {
  readonly model: M;
  readonly effects: readonly F[];
}

/** An event sent by an effect, with the generation of the effect. `reduce` can drop the event if this generation has ended. */
export type Late<L> = L & { readonly generation: number };

export interface MachineHooks<M, E, L, F> {
  readonly reduce: (model: M, event: E | Late<L>) => Transition<M, F>;
  /** Returns values to merge into the model before each event. */
  readonly facts?: () => Partial<M>;
  /** Called after each step, before its effects run. */
  readonly onStep?: (previousModel: M, nextModel: M, event: E | Late<L>, effects: readonly F[]) => void;
  /** Runs one effect. `signal` aborts when the generation ends; `send` dispatches an event with the generation. */
  readonly run: (effect: F, signal: AbortSignal, send: (outcome: L) => void) => void;
  /** Called when no event is left to process. */
  readonly onIdle?: () => void;
  /**
   * Called if `onStep` or `run` throws; the remaining effects are dropped. If `onFault` returns an event, the event is added to the
   * queue.
   */
  readonly onFault: (error: unknown, event: E | Late<L>) => E | undefined;
}

/** Holds the model. If `generation` changes, the effects of the old generation are aborted. */
export class Machine<M extends { readonly generation: number }, E, L, F> {
  readonly #hooks: MachineHooks<M, E, L, F>;
  readonly #queue: (E | Late<L>)[] = [];
  #model: M;
  #abort = new AbortController();
  #isRunning = false;

  constructor(model: M, hooks: MachineHooks<M, E, L, F>) {
    this.#model = model;
    this.#hooks = hooks;
  }

  get model(): M {
    return this.#model;
  }

  /** Signal that aborts when the current generation ends. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Processes an event. An event dispatched by an effect, or by a listener that an effect calls, waits until the step is complete.
   */
  dispatch(event: E | Late<L>): void {
    this.#queue.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let queuedEvent = this.#queue.shift(); queuedEvent; queuedEvent = this.#queue.shift())
        this.#step(queuedEvent);
    } finally {
      this.#isRunning = false;
    }
    this.#hooks.onIdle?.();
  }

  #step(event: E | Late<L>): void {
    const { reduce, facts, onStep, run, onFault } = this.#hooks;
    const previousModel = facts ? { ...this.#model, ...facts() } : this.#model;
    const { model, effects } = reduce(previousModel, event);
    const { generation } = model;
    this.#model = model;
    if (generation !== previousModel.generation) {
      this.#abort.abort();
      this.#abort = new AbortController();
    }
    const { signal } = this.#abort;
    const send = (outcome: L): void => this.dispatch({ ...outcome, generation });
    try {
      onStep?.(previousModel, model, event, effects);
      for (const effect of effects) run(effect, signal, send);
    } catch (error) {
      const faultEvent = onFault(error, event);
      if (faultEvent !== undefined) this.#queue.push(faultEvent);
    }
  }
}

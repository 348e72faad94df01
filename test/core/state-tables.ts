// Writes the table of a state machine as a document: the result of each event in each state.

import type { Transition } from '../../src/core/machine.ts';

interface Step<M, E> {
  readonly before: M;
  readonly event: E;
  readonly after: M;
}

interface Described<M, E, F> {
  /** Text above the tables. */
  readonly heading: string;
  /** An example of each state, and what the state means. */
  readonly states: Readonly<Record<string, { readonly model: M; readonly meaning: string }>>;
  readonly events: Readonly<Record<string, E>>;
  readonly reduce: (model: M, event: E) => Transition<M, F>;
  /** Returns the next state and its data as text. */
  readonly stateOf: (step: Step<M, E>) => string;
  readonly effectOf: (effect: F, step: Step<M, E>) => string;
}

type NameOf = (value: object) => string | undefined;

/** Returns a value as text. `nameOf` returns the text of an object that has a name. */
function textOf(value: unknown, nameOf: NameOf): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const name = nameOf(value);
  if (name !== undefined) return name;
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each, nameOf)).join(', ')}]`;
  const fields = Object.entries(value).map(([field, each]) => `${field}: ${textOf(each, nameOf)}`);
  return fields.length > 0 ? `{${fields.join(', ')}}` : '';
}

/** Returns a name with its data, if it has any. */
export const labelOf = (name: string, data: object, nameOf: NameOf): string =>
  `${name} ${textOf(data, nameOf)}`.trim();

/** Returns the text for an object that is a field of one of `sources`: `event.error`. */
export const fieldIn =
  (sources: Readonly<Record<string, object>>): NameOf =>
  (value) => {
    for (const [name, source] of Object.entries(sources))
      for (const [field, each] of Object.entries(source)) if (each === value) return `${name}.${field}`;
    return undefined;
  };

/** Returns the new values of all fields that differ between two models, except the generation. */
export function changesOf<M extends object>(before: M, after: M): Partial<M> {
  const fields = Object.keys({ ...before, ...after }) as (keyof M)[];
  const changed = fields.filter((field) => before[field] !== after[field] && field !== 'generation');
  return Object.fromEntries(changed.map((field) => [field, after[field]])) as Partial<M>;
}

/** Returns the document. `!` stands for the next generation. */
export function documentOf<M extends { readonly generation: number }, E extends { readonly type: string }, F>(
  machine: Described<M, E, F>,
): string {
  const { heading, states, events, reduce, stateOf, effectOf } = machine;
  const rowsOf = (before: M, some: readonly E[]): string[] =>
    some.flatMap((event) => {
      const { model: after, effects } = reduce(before, event);
      if (after === before && effects.length === 0) return [];
      const step = { before, event, after };
      const increase = after.generation - before.generation;
      const next = `\`${stateOf(step)}\`${['', ' !'][increase] ?? ` generation + ${increase}`}`;
      const run = effects.map((effect) => `\`${effectOf(effect, step)}\``);
      return [`| \`${event.type}\` | ${next} | ${run.join(', ')} |`];
    });
  const tables = Object.entries(states).flatMap(([name, { model, meaning }]) => {
    const rows = rowsOf(model, Object.values(events));
    const table = ['| Event | Next state | Effects |', '|---|---|---|', ...rows];
    return [`## ${name}`, '', meaning, '', ...(rows.length > 0 ? table : ['No event changes anything.']), ''];
  });
  const late = Object.values(events).flatMap((event) =>
    'generation' in event ? [{ ...event, generation: Number(event.generation) - 1 }] : [],
  );
  const lateRows = Object.entries(states).flatMap(([name, { model }]) =>
    rowsOf(model, late).map((row) => `${name} ${row}`),
  );
  const ended = `Outcomes of an earlier generation change ${lateRows.join(' ') || 'nothing'}.`;
  return [heading, '', ended, '', ...tables].join('\n');
}

/** Returns the sections of a document, by their headings. */
export const sectionsOf = (text: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(text.split(/^##? /m).map((section) => [section.split('\n')[0], section.split('\n')]));

// Shows handwritten input with the views and styles of the real element.

import { fixture, html } from '@open-wc/testing';
import { nothing } from 'lit';
import { STATES, snapshot } from '../../demo/states/snapshots.ts';
import type { WidgetFixture } from '../../demo/states/widget-fixture.ts';
import type { FileSnapshot, Snapshot } from '../../src/index.ts';
import type { Intake, Rules, WidgetState } from '../../src/ui/views/state.ts';
import '../../demo/states/widget-fixture.ts';

/** Input of the widget. Omitted fields are those of an empty widget. */
export interface Shown {
  readonly snapshot?: Snapshot | undefined;
  readonly rules?: Partial<Rules> | undefined;
  readonly intake?: Partial<Intake> | undefined;
  readonly more?: Partial<WidgetState> | undefined;
}

/** Attributes of the widget, and its children. A widget with `width` (in px) has letters of the usual size. */
interface Frame {
  readonly density?: string;
  readonly layout?: string;
  readonly width?: number;
  readonly style?: string;
  readonly slotted?: ReturnType<typeof html>;
}

/** Returns the input that shows a state by its name, a list of files, or a snapshot. */
function inputOf(shown: Shown | Snapshot | readonly FileSnapshot[] | string): Shown {
  if (typeof shown !== 'string') {
    if ('length' in shown) return { snapshot: snapshot(shown) };
    return 'files' in shown ? { snapshot: shown } : shown;
  }
  const state = STATES[shown];
  if (!state) throw new Error(`there is no state "${shown}"`);
  return { snapshot: state };
}

/** Shows the input on the page, and resolves after the rendering. */
export async function show(
  shown: Parameters<typeof inputOf>[0],
  { density, layout, width, style = '', slotted }: Frame = {},
): Promise<WidgetFixture> {
  const size = width === undefined ? '' : `inline-size: ${width}px; font-size: 16px;`;
  const element = await fixture<WidgetFixture>(
    html`<widget-fixture style="${size}${style}" density=${density ?? nothing} layout=${layout ?? nothing}>${slotted}</widget-fixture>`,
  );
  const { snapshot: state = snapshot([]), rules, intake, more } = inputOf(shown);
  element.rules = { ...element.rules, ...rules, ...(layout !== undefined && { layout }) };
  element.intake = { ...element.intake, ...intake };
  element.more = { ...more };
  await element.show(state);
  return element;
}

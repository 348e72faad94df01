// Tests the controls of a table, by mouse and by keyboard in each state.

import { expect, nextFrame } from '@open-wc/testing';
import { isFullSize } from '../support/scope.ts';
import { reaches, type Stage } from '../support/world.ts';
import { click, controlOf, controlsOf, controlsOfTree, LIST, press, tabThrough } from './accessible.ts';
import { DISABLED, FIELD, type Situation } from './control-table.ts';
import { shown } from './support.ts';

async function open({ open, state }: Situation): Promise<Stage> {
  const stage = await open();
  await reaches(stage, state);
  return stage;
}

/** Opens a situation, operates the control `name` with `act`, and waits for the expected effect. */
async function check(
  situation: Situation,
  name: string,
  act: (control: HTMLElement) => Promise<void>,
): Promise<Stage> {
  const stage = await open(situation);
  const effect = situation.controls[name];
  await act(controlOf(stage.element, name));
  // These can be undone for some seconds. Leaving the page completes them.
  if (/^(Cancel|Remove).+/.test(name) && name !== 'Cancel sign-in') {
    await shown(() => controlsOf(stage.element).some((control) => control.name === 'Undo'));
    globalThis.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  }
  if (effect === DISABLED || effect === FIELD || !effect) await reaches(stage, situation.state);
  else if ('shows' in effect)
    await shown(() => controlsOf(stage.element).some((control) => control.name === effect.shows));
  else await reaches(stage, typeof effect === 'function' ? effect(situation.state) : effect);
  return stage;
}

/**
 * Declares the tests of a table, one `describe` per state. At full size, each control is operated in each state, otherwise only in
 * the first state that has the control.
 */
export function describeControls(situations: readonly Situation[]): void {
  const operated = new Set<string>();
  for (const situation of situations) {
    const { controls } = situation;
    const names = Object.keys(controls);
    describe(situation.title, () => {
      it('has exactly these controls, in Tab order', async () => {
        const { element: host } = await open(situation);
        const found = controlsOf(host);
        expect(found.map(({ name }) => name)).to.deep.equal(names);
        for (const { role, name, isDisabled } of found) {
          expect(isDisabled, name).to.equal(controls[name] === DISABLED);
          expect(role === 'button', name).to.equal(controls[name] !== FIELD);
        }
        const tree = await controlsOfTree();
        const seen = found.map(({ role, name, element }) => ({
          role,
          name,
          // Chromium reports all controls of a host with the `disabled` attribute as disabled, even with `aria-disabled="false"`.
          isDisabled: host.disabled || element.matches(':disabled'),
        }));
        if (tree) expect(tree).to.deep.equal(seen);
        const stops = found.filter(({ isDisabled, element }) => !isDisabled && element.tabIndex >= 0);
        // The row that is the tab stop is before its controls; those of other rows are reached with the arrow keys.
        const rows = stops.map(({ element }) => element.closest('.row'));
        const reached = stops.flatMap(({ name }, index) =>
          rows[index] && rows[index] !== rows[index - 1] ? [LIST, name] : [name],
        );
        expect(reached.filter((name) => name === LIST)).to.have.length(rows.some(Boolean) ? 1 : 0);
        expect(await tabThrough(host)).to.deep.equal(reached);
      });

      for (const [index, name] of names.entries()) {
        if (controls[name] === FIELD || (operated.has(name) && !isFullSize)) continue;
        it(`${name} by mouse`, async () => void (await check(situation, name, click)));
        if (controls[name] === DISABLED) continue;
        operated.add(name);
        it(`${name} by keyboard, which keeps the focus in the widget`, async () => {
          const key = index % 2 === 0 ? 'Enter' : ' ';
          const { element } = await check(situation, name, (control) => press(control, key));
          // What is no longer rendered, such as content without its slot, loses the focus only then.
          await nextFrame();
          await nextFrame();
          // Not `:focus-within`: in Chromium, the pseudo-class ends at a popover.
          expect(element.contains(document.activeElement)).to.equal(true);
        });
      }
    });
  }
}

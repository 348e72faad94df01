// The actions for all files of a list, by its state, and their buttons in the footer.

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { type ButtonOptions, button } from './buttons.ts';
import { isWorthRetrying } from './file-row.ts';
import type { FooterState, FooterView } from './list-state.ts';
import { menu } from './menu.ts';
import type { Commands } from './state.ts';

/** An action for all files, in the states that have it. */
interface Action {
  readonly name: string;
  readonly command: 'undo' | 'start' | 'pause' | 'resume' | 'browse' | 'retry' | 'cancel' | 'clear';
  label(state: FooterState): string;
  /** Whether it is possible now; without this method, it always is. */
  isPossible?(state: FooterState): boolean;
  /** Its look as the main button. */
  readonly kind?: ButtonOptions['kind'] | ((state: FooterState) => ButtonOptions['kind']);
  /** True if the user need not do it. */
  readonly isOptional?: boolean;
}

const UNDO: Action = {
  name: 'undo',
  command: 'undo',
  label: ({ messages }) => messages.undo,
  isPossible: ({ undo }) => undo !== undefined,
};
const START: Action = {
  name: 'start',
  command: 'start',
  label: ({ messages, queuedCount }) => messages.start(queuedCount),
  kind: 'primary',
};
const PAUSE: Action = {
  name: 'pause-all',
  command: 'pause',
  label: ({ messages }) => messages.pauseAll,
  isOptional: true,
};
const RESUME: Action = {
  name: 'resume-all',
  command: 'resume',
  label: ({ messages }) => messages.resumeAll,
  isPossible: ({ isPausedByUser }) => isPausedByUser,
  kind: 'primary',
};
const CHOOSE: Action = {
  name: 'choose-all',
  command: 'browse',
  label: ({ messages }) => messages.chooseFiles,
  // A file from a folder is recognized only if it is chosen in its row: files from the picker have no path. An input with `capture`
  // opens only the camera.
  isPossible: ({ rules, missingFiles }) =>
    missingFiles.length > 1 &&
    rules.multiple &&
    !rules.disabled &&
    !rules.capture &&
    !missingFiles.some((file) => file.relativePath.includes('/')),
  kind: 'primary',
};
const RETRY: Action = {
  name: 'retry-failed',
  command: 'retry',
  label: ({ messages }) => messages.retryFailed,
  // A cause above the list has the same action for its files.
  isPossible: ({ causes, retriable }) => retriable.some((file) => !causes.has(file)),
  kind: ({ retriable }) => (retriable.some(isWorthRetrying) ? 'primary' : undefined),
};
const CANCEL: Action = {
  name: 'cancel-all',
  command: 'cancel',
  label: ({ messages }) => messages.cancelAll,
  isOptional: true,
};
const CLEAR: Action = {
  name: 'clear',
  command: 'clear',
  label: ({ messages }) => messages.clear,
  isPossible: ({ undo, totals }) => !undo && totals.failedCount < totals.fileCount,
  kind: 'plain',
};

const OF_PAUSED = [UNDO, RESUME, CHOOSE, RETRY, CANCEL];
const OF_RUNNING = [UNDO, PAUSE, RESUME, CHOOSE, RETRY, CANCEL];
const OF_ENDED = [UNDO, RETRY, CLEAR];

const ACTIONS: Readonly<Record<FooterView, readonly Action[]>> = {
  brief: [UNDO],
  ready: [UNDO, START, RESUME, CHOOSE, RETRY, CANCEL],
  waiting: OF_RUNNING,
  uploading: OF_RUNNING,
  finishing: OF_RUNNING,
  retrying: OF_RUNNING,
  paused: OF_PAUSED,
  failed: OF_ENDED,
  done: OF_ENDED,
  ended: OF_ENDED,
};

/**
 * The buttons of the footer. What the user has to do has words, and so has "Retry". All others are in a menu, also a single one:
 * another button in the place of the menu would be pressed by mistake. If there is nothing to do, wide places have room for their
 * words.
 */
export function listActions(view: FooterView, state: FooterState, commands: Commands): TemplateResult {
  const actions = ACTIONS[view].filter(({ isPossible }) => isPossible?.(state) ?? true);
  const main = actions.find(({ isOptional }) => !isOptional);
  const inMenu = actions.filter((action) => action !== main && action !== RETRY);
  const inLine = actions.filter((action) => !inMenu.includes(action));
  // What runs needs nothing from the user.
  const kind = actions.includes(PAUSE) ? undefined : main?.kind;
  const mainKind = typeof kind === 'function' ? kind(state) : kind;
  const draw = (those: readonly Action[]): unknown =>
    repeat(
      those,
      // So that a button never becomes another one while it has the focus.
      ({ name }) => name,
      (action) =>
        button(action.name, action.label(state), () => commands[action.command](), {
          kind: action === main ? mainKind : 'plain',
        }),
    );
  const moreMenu =
    inMenu.length > 0
      ? menu({
          id: 'more',
          label: state.messages.moreActions,
          actions: inMenu.map(({ name }) => name).join(),
          items: draw(inMenu),
          isFluid: !main,
        })
      : nothing;
  return html`<div class="bulk">
      ${draw(inLine)}${moreMenu}
    </div>`;
}

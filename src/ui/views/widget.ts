// The complete interface as a function of its state.

import { nothing, type TemplateResult } from 'lit';
import { sharedReason } from '../causes.ts';
import { causePanels } from './cause-panels.ts';
import { fileList } from './file-list.ts';
import { frame } from './frame.ts';
import { menu } from './menu.ts';
import { rejectionsPanel } from './rejections.ts';
import { signInPanel } from './sign-in-panel.ts';
import type { Commands, WidgetState } from './state.ts';
import { totalsBar } from './totals-bar.ts';

/** Everything inside the shadow root. */
export function widget(state: WidgetState, commands: Commands): TemplateResult {
  const { rules, snapshot } = state;
  const shared = sharedReason(snapshot.files, rules.manual);
  const rejections = rejectionsPanel(state, commands);
  const signIn = signInPanel(state, commands);
  const list = fileList(state, shared !== undefined, commands);
  const { messages } = state;
  const label = messages.actionOn(messages.moreActions, state.label || messages.label);
  return frame(state, commands, {
    panels: [rejections, signIn, causePanels(state, commands)],
    list,
    totals: totalsBar(state, shared, commands),
    folderMenu: (items) =>
      snapshot.files.length > 0 ? menu({ id: 'add', label, actions: 'folder', items, isFluid: true }) : items,
    isEmpty: !state.undo && [rejections, signIn, list].every((part) => part === nothing),
  });
}

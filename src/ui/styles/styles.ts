// All styles in their order.

import { controls } from './controls.ts';
import { list } from './list.ts';
import { panels } from './panels.ts';
import { tokens } from './tokens.ts';

/** What the shadow root adopts. */
export const styles = [tokens, controls, panels, list];

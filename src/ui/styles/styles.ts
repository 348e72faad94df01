import { controls } from './controls.ts';
import { density } from './density.ts';
import { layouts } from './layouts.ts';
import { list } from './list.ts';
import { menuStyles } from './menu-styles.ts';
import { panels } from './panels.ts';
import { tokens } from './tokens.ts';

/** The styles of the complete interface. The order matters: later rules win. */
export const styles = [tokens, controls, panels, list, menuStyles, density, layouts];

import { controls } from './controls.ts';
import { density } from './density.ts';
import { layouts } from './layouts.ts';
import { panels } from './panels.ts';
import { tokens } from './tokens.ts';

/** The styles of what is shown before the first file. */
export const frameStyles = [tokens, controls, panels, density, layouts];

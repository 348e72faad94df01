// Every control of the list, in every phase that a file can be in.

import { SITUATIONS } from './control-table.ts';
import { describeControls } from './controls.ts';

describeControls(SITUATIONS);

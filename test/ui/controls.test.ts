// All controls of the list, in all phases of a file.

import { SITUATIONS } from './control-table.ts';
import { describeControls } from './controls.ts';

describeControls(SITUATIONS);

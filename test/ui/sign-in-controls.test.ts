// All controls of sign-in, in all states of sign-in.

import { describeControls } from './controls.ts';
import { SIGN_IN_SITUATIONS } from './sign-in-table.ts';

describeControls(SIGN_IN_SITUATIONS);

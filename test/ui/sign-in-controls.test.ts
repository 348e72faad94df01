// Every control of sign-in, in every state of it.

import { describeControls } from './controls.ts';
import { SIGN_IN_SITUATIONS } from './sign-in-table.ts';

describeControls(SIGN_IN_SITUATIONS);

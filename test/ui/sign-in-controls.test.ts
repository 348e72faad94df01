// Every control of signing in, in every state that it can be in.

import { describeControls } from './controls.ts';
import { SIGN_IN_SITUATIONS } from './sign-in-table.ts';

describeControls(SIGN_IN_SITUATIONS);

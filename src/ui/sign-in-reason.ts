// Why files wait while the panel shows that the sign-in waits for its service: for the sign-in, and not for a connection as well.

import type { AuthSnapshot, FileSnapshot } from '../core/types.ts';
import { needsPanel } from './views/sign-in-panel.ts';

/** Returns the files with the reason that the sign-in panel shows. Offline, the connection is the reason in both. */
export function withSignInReason(
  auth: AuthSnapshot,
  files: readonly FileSnapshot[],
): readonly FileSnapshot[] {
  if (auth.state !== 'cooling' || auth.error?.code === 'offline' || !needsPanel(auth)) return files;
  return files.map((file) =>
    file.pauseReason === 'offline' ? { ...file, pauseReason: 'signed-out' } : file,
  );
}

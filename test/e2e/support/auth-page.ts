// Script of a page with sign-in and no widget. Tests control the page through `globalThis.tools`.

import { openAuthSession } from '../../../src/auth/session.ts';
import type { AuthSession } from '../../../src/auth/types.ts';
import type { Change } from '../../../src/core/changes.ts';
import { createSettings } from '../../../src/core/config.ts';
import { UploaderError } from '../../../src/core/errors.ts';
import type { SettingsInput } from '../../../src/core/settings-table.ts';
import { createCalls, createPost } from '../../../src/service/client.ts';
import '../../../src/define.ts';

let session: AuthSession | undefined;
const events: { name: string; detail: unknown }[] = [];

/** Functions that a test can call in the page. */
export const tools = {
  /** Opens a sign-in session and adds its reports to `events`. */
  open(input: SettingsInput): AuthSession {
    const settings = createSettings(input);
    const report = ({ name, detail }: Change): void => {
      const { respondWith: _, ...plain } = detail as { respondWith?: unknown };
      events.push({ name, detail: plain });
    };
    session = openAuthSession(settings, { post: createPost(settings), report });
    const button = document.querySelector('button');
    button?.addEventListener('click', () => session?.signIn());
    return session;
  },
  /** Adds an uploader with these settings, which shows the sign-in form. */
  showForm(input: SettingsInput): void {
    const element = document.createElement('secure-uploader');
    Object.assign(element, input);
    document.body.append(element);
    // While a call waits for a token, the uploader shows the form automatically.
    if (!session?.snapshot.required) void element.signIn();
  },
  /** Opens `count` upload sessions at once. Resolves with `done` when all are open, or with the code of the first error. */
  async call(input: SettingsInput, count = 1, parentId = 'folder-a'): Promise<string> {
    const calls = createCalls(createSettings(input), (call, signal) => {
      if (!session) throw new Error('no session');
      return session.withToken(call, signal);
    });
    const file = { parentId, fileName: 'a.bin', fileSize: 1 };
    try {
      const all = Array.from({ length: count }, () => calls.openSession(file, new AbortController().signal));
      await Promise.all(all);
      return 'done';
    } catch (error) {
      return error instanceof UploaderError ? error.code : String(error);
    }
  },
  get session() {
    return session;
  },
};

Object.assign(globalThis, { events, tools });

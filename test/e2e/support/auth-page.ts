// The page script of a sign-in journey: a session with a list of all it reports, privileged calls, and the form.
import { type AuthSession, openAuthSession } from '../../../src/auth/session.ts';
import type { Change } from '../../../src/core/changes.ts';
import { createSettings, type SettingsInput } from '../../../src/core/config.ts';
import { UploaderError } from '../../../src/core/errors.ts';
import { createCalls, createPost } from '../../../src/service/client.ts';
import '../../../src/define.ts';

let session: AuthSession | undefined;
const events: { name: string; detail: unknown }[] = [];

/** What a test can do in the page, as `globalThis.tools`. */
export const tools = {
  events,
  /** Opens a session; its reports are in `events`. */
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
  /** Adds an uploader with these settings to the page, which shows the form of the session. */
  showForm(input: SettingsInput): void {
    const element = document.createElement('secure-uploader');
    Object.assign(element, input);
    document.body.append(element);
    // If no call waits for a token, it shows the form on request.
    if (!session?.snapshot.required) void element.signIn();
  },
  /** Opens this many upload sessions at once; resolves when all are open, or with the code of the error. */
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

Object.assign(globalThis, { tools });

// A page with its own sign-in. It passes its token to the widget through `getToken`.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { loadConfig, signIn } from './account.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const { baseUrl, seed } = await loadConfig();
const [user] = seed.users;
const form = find<HTMLFormElement>('form');
const status = find('#status');

find<HTMLInputElement>('[name=email]').value = user?.email ?? '';
find<HTMLInputElement>('[name=password]').value = seed.password;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  const credentials = [String(fields.get('email')), String(fields.get('password'))] as const;
  try {
    await signIn(baseUrl, ...credentials);
  } catch (error) {
    status.textContent = (error as Error).message;
    return;
  }
  const element: SecureUploader = document.createElement('secure-uploader');
  let calls = 0;
  Object.assign(element, {
    baseUrl,
    parentId: seed.folders[0]?.id,
    commitPath: '/files/uploadsession/commit',
    multiple: true,
    directory: true,
    getToken: async () => {
      calls += 1;
      status.textContent = `The widget has requested ${calls === 1 ? 'one token' : `${calls} tokens`} from this page.`;
      return signIn(baseUrl, ...credentials);
    },
  });
  form.replaceWith(element);
  status.textContent = 'You are signed in. The widget has not requested a token yet.';
});
